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
    88  mov r11d, 0x40
    8e  nop word ptr [rax + rax]
    97  nop word ptr [rax + rax]
.L2:
        ; %0 = load u32 $1
    a0  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
    a7  vmovups zmm17, zmmword ptr [rbx + 4*rsi + 0x1000]
    af  vmovups zmm18, zmmword ptr [rbx + 4*rsi + 0x2000]
    ba  vmovups zmm19, zmmword ptr [rbx + 4*rsi + 0x3000]
        ; store u32 $0 %0
    c5  vmovntps zmmword ptr [r9 + 4*rsi], zmm16
    cc  vmovntps zmmword ptr [r9 + 4*rsi + 0x1000], zmm17
    d4  vmovntps zmmword ptr [r9 + 4*rsi + 0x2000], zmm18
    df  vmovntps zmmword ptr [r9 + 4*rsi + 0x3000], zmm19
        ; addresses
    ea  add rsi, 0x10
    ee  dec r11d
    f1  jne .L2
    f3  add rsi, 0xc00
    fa  sub r8, 0x1000
   101  jae .L1
.L3:
   103  add r8, 0x1000
        ; vectors, stored past the caches
   10a  sub r8, 0x40
   10e  jb .L5
   114  add r8, rsi
   117  nop word ptr [rax + rax]
.L4:
        ; %0 = load u32 $1
   120  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
   127  vmovups zmm17, zmmword ptr [rbx + 4*rsi + 0x40]
   12f  vmovups zmm18, zmmword ptr [rbx + 4*rsi + 0x80]
   137  vmovups zmm19, zmmword ptr [rbx + 4*rsi + 0xc0]
        ; store u32 $0 %0
   13f  vmovntps zmmword ptr [r9 + 4*rsi], zmm16
   146  vmovntps zmmword ptr [r9 + 4*rsi + 0x40], zmm17
   14e  vmovntps zmmword ptr [r9 + 4*rsi + 0x80], zmm18
   156  vmovntps zmmword ptr [r9 + 4*rsi + 0xc0], zmm19
        ; addresses
   15e  add rsi, 0x40
   162  cmp rsi, r8
   165  jbe .L4
   167  sub r8, rsi
.L5:
   16a  add r8, 0x30
   16e  js .L7
   174  nop word ptr [rax + rax]
   17d  nop dword ptr [rax]
.L6:
        ; %0 = load u32 $1
   180  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   187  vmovntps zmmword ptr [r9 + 4*rsi], zmm16
        ; addresses
   18e  add rsi, 0x10
   192  sub r8, 0x10
   196  jae .L6
.L7:
   198  add r8, 0x10
.L8:
        ; vectors
   19c  sub r8, 0x10
   1a0  jb .L10
   1a6  nop word ptr [rax + rax]
   1af  nop word ptr [rax + rax]
   1b8  nop dword ptr [rax + rax]
.L9:
        ; %0 = load u32 $1
   1c0  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   1c7  vmovups zmmword ptr [r9 + 4*rsi], zmm16
        ; addresses
   1ce  add rsi, 0x10
   1d2  sub r8, 0x10
   1d6  jae .L9
.L10:
   1d8  add r8, 0x10
   1dc  test r8, r8
   1df  je .L11
        ; tail
   1e5  mov r11d, 0x10
   1eb  cmp r8, r11
   1ee  cmovb r11, r8
   1f2  mov eax, 0xffffffff
   1f7  bzhi eax, eax, r11d
   1fc  kmovd k1, eax
        ; %0 = load u32 $1
   200  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   207  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm16
.L11:
        ; return
   20e  mov rsp, qword ptr [rsp]
   212  pop rbx
   213  ret
