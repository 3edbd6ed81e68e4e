        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
    13  mov rcx, qword ptr [rdi]
    16  mov r9, qword ptr [rcx]
    19  mov rbx, qword ptr [rcx + 0x8]
    1d  mov rax, qword ptr [rdi + 0x8]
    21  mov r8, qword ptr [rax]
        ; start of the innermost loop
    24  xor esi, esi
        ; head, up to where the output is aligned
    26  lea rcx, [r9 + 4*rsi]
    2a  neg rcx
    2d  and ecx, 0x3f
    30  shr ecx, 0x2
    33  mov r11, rcx
    36  cmp r11, r8
    39  cmova r11, r8
    3d  test r11, r11
    40  je .L0
    46  mov eax, 0xffffffff
    4b  bzhi eax, eax, r11d
    50  kmovd k1, eax
        ; %0 = load u32 $1
    54  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
    5b  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm16
        ; addresses
    62  add rsi, r11
    65  sub r8, r11
.L0:
    68  xor ecx, ecx
    6a  lea rdx, [r9 + 4*rsi]
    6e  and edx, 0x3f
    71  or ecx, edx
    73  test ecx, ecx
    75  jne .L8
    7b  sub r8, 0x1000
    82  jb .L3
.L1:
        ; four pages in turn
    88  mov r11d, 0x20
    8e  nop word ptr [rax + rax]
    97  nop word ptr [rax + rax]
.L2:
        ; %0 = load u32 $1
    a0  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
    a7  vmovntps zmmword ptr [r9 + 4*rsi], zmm16
        ; %0 = load u32 $1
    ae  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0x40]
        ; store u32 $0 %0
    b6  vmovntps zmmword ptr [r9 + 4*rsi + 0x40], zmm16
        ; %0 = load u32 $1
    be  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0x1000]
        ; store u32 $0 %0
    c6  vmovntps zmmword ptr [r9 + 4*rsi + 0x1000], zmm16
        ; %0 = load u32 $1
    ce  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0x1040]
        ; store u32 $0 %0
    d6  vmovntps zmmword ptr [r9 + 4*rsi + 0x1040], zmm16
        ; %0 = load u32 $1
    de  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0x2000]
        ; store u32 $0 %0
    e9  vmovntps zmmword ptr [r9 + 4*rsi + 0x2000], zmm16
        ; %0 = load u32 $1
    f4  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0x2040]
        ; store u32 $0 %0
    ff  vmovntps zmmword ptr [r9 + 4*rsi + 0x2040], zmm16
        ; %0 = load u32 $1
   10a  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0x3000]
        ; store u32 $0 %0
   115  vmovntps zmmword ptr [r9 + 4*rsi + 0x3000], zmm16
        ; %0 = load u32 $1
   120  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0x3040]
        ; store u32 $0 %0
   12b  vmovntps zmmword ptr [r9 + 4*rsi + 0x3040], zmm16
        ; addresses
   136  add rsi, 0x20
   13a  dec r11d
   13d  jne .L2
   143  add rsi, 0xc00
   14a  sub r8, 0x1000
   151  jae .L1
.L3:
   157  add r8, 0x1000
        ; vectors, stored past the caches
   15e  sub r8, 0x40
   162  jb .L5
   168  nop word ptr [rax + rax]
   171  nop word ptr [rax + rax]
   17a  nop word ptr [rax + rax]
.L4:
        ; %0 = load u32 $1
   180  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   187  vmovntps zmmword ptr [r9 + 4*rsi], zmm16
        ; %0 = load u32 $1
   18e  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0x40]
        ; store u32 $0 %0
   196  vmovntps zmmword ptr [r9 + 4*rsi + 0x40], zmm16
        ; %0 = load u32 $1
   19e  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0x80]
        ; store u32 $0 %0
   1a6  vmovntps zmmword ptr [r9 + 4*rsi + 0x80], zmm16
        ; %0 = load u32 $1
   1ae  vmovups zmm16, zmmword ptr [rbx + 4*rsi + 0xc0]
        ; store u32 $0 %0
   1b6  vmovntps zmmword ptr [r9 + 4*rsi + 0xc0], zmm16
        ; addresses
   1be  add rsi, 0x40
   1c2  sub r8, 0x40
   1c6  jae .L4
.L5:
   1c8  add r8, 0x30
   1cc  js .L7
   1d2  nop word ptr [rax + rax]
   1db  nop dword ptr [rax + rax]
.L6:
        ; %0 = load u32 $1
   1e0  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   1e7  vmovntps zmmword ptr [r9 + 4*rsi], zmm16
        ; addresses
   1ee  add rsi, 0x10
   1f2  sub r8, 0x10
   1f6  jae .L6
.L7:
   1f8  add r8, 0x10
   1fc  jmp .L11
.L8:
        ; vectors
   201  sub r8, 0x10
   205  jb .L10
   20b  nop word ptr [rax + rax]
   214  nop word ptr [rax + rax]
   21d  nop dword ptr [rax]
.L9:
        ; %0 = load u32 $1
   220  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   227  vmovups zmmword ptr [r9 + 4*rsi], zmm16
        ; addresses
   22e  add rsi, 0x10
   232  sub r8, 0x10
   236  jae .L9
.L10:
   238  add r8, 0x10
.L11:
   23c  test r8, r8
   23f  je .L12
        ; tail
   245  mov r11d, 0x10
   24b  cmp r8, r11
   24e  cmovb r11, r8
   252  mov eax, 0xffffffff
   257  bzhi eax, eax, r11d
   25c  kmovd k1, eax
        ; %0 = load u32 $1
   260  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   267  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm16
.L12:
        ; return
   26e  sfence
   271  mov rsp, qword ptr [rsp]
   275  pop rbx
   276  ret
