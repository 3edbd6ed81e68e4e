        ; entry
     0  push rbx
     1  push rbp
     2  push r12
     4  mov rax, rsp
     7  sub rsp, 0x40
     e  and rsp, -0x40
    12  mov qword ptr [rsp], rax
    16  vmovups zmm31, zmmword ptr [rip - 0x60]
        ; enter a loop
    20  mov rax, qword ptr [rdi + 0x8]
    24  mov rax, qword ptr [rax]
    27  mov r12, rax
    2a  mov rcx, qword ptr [rdi]
    2d  mov r9, qword ptr [rcx]
    30  mov rbp, qword ptr [rcx + 0x8]
.L0:
    34  mov rax, qword ptr [rdi + 0x8]
    38  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    3c  mov rbx, rbp
    3f  xor esi, esi
        ; vectors
    41  sub r8, 0x41
    45  jb .L2
    4b  nop word ptr [rax + rax]
    54  nop word ptr [rax + rax]
    5d  nop dword ptr [rax]
.L1:
        ; %0 = load u32 $1
    60  vmovups zmm16, zmmword ptr [rbx]
    66  vpermt2d zmm16, zmm31, zmmword ptr [rbx + 0x40]
        ; store u32 $0 %0
    6d  vmovups zmmword ptr [r9 + 4*rsi], zmm16
        ; %0 = load u32 $1
    74  vmovups zmm16, zmmword ptr [rbx + 0x80]
    7b  vpermt2d zmm16, zmm31, zmmword ptr [rbx + 0xc0]
        ; store u32 $0 %0
    82  vmovups zmmword ptr [r9 + 4*rsi + 0x40], zmm16
        ; %0 = load u32 $1
    8a  vmovups zmm16, zmmword ptr [rbx + 0x100]
    91  vpermt2d zmm16, zmm31, zmmword ptr [rbx + 0x140]
        ; store u32 $0 %0
    98  vmovups zmmword ptr [r9 + 4*rsi + 0x80], zmm16
        ; %0 = load u32 $1
    a0  vmovups zmm16, zmmword ptr [rbx + 0x180]
    a7  vpermt2d zmm16, zmm31, zmmword ptr [rbx + 0x1c0]
        ; store u32 $0 %0
    ae  vmovups zmmword ptr [r9 + 4*rsi + 0xc0], zmm16
        ; addresses
    b6  add rsi, 0x40
    ba  add rbx, 0x200
    c1  sub r8, 0x40
    c5  jae .L1
.L2:
    c7  add r8, 0x30
    cb  js .L4
    d1  nop word ptr [rax + rax]
    da  nop word ptr [rax + rax]
.L3:
        ; %0 = load u32 $1
    e0  vmovups zmm16, zmmword ptr [rbx]
    e6  vpermt2d zmm16, zmm31, zmmword ptr [rbx + 0x40]
        ; store u32 $0 %0
    ed  vmovups zmmword ptr [r9 + 4*rsi], zmm16
        ; addresses
    f4  add rsi, 0x10
    f8  add rbx, 0x80
    ff  sub r8, 0x10
   103  jae .L3
.L4:
   105  add r8, 0x11
   109  je .L6
.L5:
        ; tail
   10f  mov r11d, 0x10
   115  cmp r8, r11
   118  cmovb r11, r8
   11c  mov eax, 0xffffffff
   121  bzhi eax, eax, r11d
   126  kmovd k1, eax
        ; %0 = load u32 $1
   12a  imul rcx, r11, 0x2
   12e  sub rcx, 0x1
   132  mov rdx, -0x1
   139  bzhi rdx, rdx, rcx
   13e  kmovq k2, rdx
   143  vmovdqu32 zmm16 {k2} {z}, zmmword ptr [rbx]
   149  xor edx, edx
   14b  sub rcx, 0x10
   14f  cmovs rcx, rdx
   153  mov rdx, -0x1
   15a  bzhi rdx, rdx, rcx
   15f  kmovq k2, rdx
   164  vmovdqu32 zmm17 {k2} {z}, zmmword ptr [rbx + 0x40]
   16b  xor edx, edx
   16d  sub rcx, 0x10
   171  cmovs rcx, rdx
   175  vpermt2d zmm16, zmm31, zmm17
        ; store u32 $0 %0
   17b  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm16
        ; addresses
   182  add rsi, 0x10
   186  add rbx, 0x80
   18d  sub r8, 0x10
   191  ja .L5
.L6:
        ; next iteration
   197  mov rax, qword ptr [rdi + 0x10]
   19b  add r9, qword ptr [rax]
   19e  add rbp, qword ptr [rax + 0x8]
   1a2  dec r12
   1a5  jne .L0
        ; return
   1ab  mov rsp, qword ptr [rsp]
   1af  pop r12
   1b1  pop rbp
   1b2  pop rbx
   1b3  ret
