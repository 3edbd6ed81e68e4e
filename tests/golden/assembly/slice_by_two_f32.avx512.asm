        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0x8], rax
    14  vmovups zmm31, zmmword ptr [rip - 0x5e]
        ; enter a loop
    1e  mov rax, qword ptr [rdi + 0x8]
    22  mov rax, qword ptr [rax]
    25  mov qword ptr [rsp + 0x10], rax
    2a  mov rcx, qword ptr [rdi]
    2d  mov r9, qword ptr [rcx]
    30  mov rax, qword ptr [rcx + 0x8]
    34  mov qword ptr [rsp], rax
.L0:
    38  mov rax, qword ptr [rdi + 0x8]
    3c  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    40  mov rbx, qword ptr [rsp]
    44  xor esi, esi
        ; vectors
    46  sub r8, 0x41
    4a  jb .L2
    50  nop word ptr [rax + rax]
    59  nop dword ptr [rax]
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
   19e  mov rcx, qword ptr [rax + 0x8]
   1a2  add qword ptr [rsp], rcx
   1a6  dec qword ptr [rsp + 0x10]
   1ab  jne .L0
        ; return
   1b1  mov rsp, qword ptr [rsp + 0x8]
   1b6  pop rbx
   1b7  ret
