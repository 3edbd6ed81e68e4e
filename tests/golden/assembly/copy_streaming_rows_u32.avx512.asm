        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
        ; enter a loop
    13  mov rax, qword ptr [rdi + 0x8]
    17  mov rax, qword ptr [rax]
    1a  mov qword ptr [rsp + 0x8], rax
    1f  mov rcx, qword ptr [rdi]
    22  mov r9, qword ptr [rcx]
    25  mov rbx, qword ptr [rcx + 0x8]
.L0:
    29  mov rax, qword ptr [rdi + 0x8]
    2d  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    31  xor esi, esi
        ; head, up to where the output is aligned
    33  lea rcx, [r9 + 4*rsi]
    37  neg rcx
    3a  and ecx, 0x3f
    3d  shr ecx, 0x2
    40  mov r11, rcx
    43  cmp r11, r8
    46  cmova r11, r8
    4a  cmp r8, 0x80
    51  jae .L1
    57  test r11, r11
    5a  jne .L10
.L1:
    60  test r11, r11
    63  je .L2
    69  mov eax, 0xffffffff
    6e  bzhi eax, eax, r11d
    73  kmovd k1, eax
        ; %0 = load u32 $1
    77  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
    7e  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm16
        ; addresses
    85  add rsi, r11
    88  sub r8, r11
.L2:
    8b  xor ecx, ecx
    8d  lea rdx, [r9 + 4*rsi]
    91  and edx, 0x3f
    94  or ecx, edx
    96  test ecx, ecx
    98  jne .L10
    9e  sub r8, 0x1000
    a5  jb .L5
.L3:
        ; four pages in turn
    ab  mov r11d, 0x40
    b1  nop word ptr [rax + rax]
    ba  nop word ptr [rax + rax]
.L4:
        ; %0 = load u32 $1
    c0  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
    c7  vmovups zmm17, zmmword ptr [rbx + 4*rsi + 0x1000]
    cf  vmovups zmm18, zmmword ptr [rbx + 4*rsi + 0x2000]
    da  vmovups zmm19, zmmword ptr [rbx + 4*rsi + 0x3000]
        ; store u32 $0 %0
    e5  vmovntps zmmword ptr [r9 + 4*rsi], zmm16
    ec  vmovntps zmmword ptr [r9 + 4*rsi + 0x1000], zmm17
    f4  vmovntps zmmword ptr [r9 + 4*rsi + 0x2000], zmm18
    ff  vmovntps zmmword ptr [r9 + 4*rsi + 0x3000], zmm19
        ; addresses
   10a  add rsi, 0x10
   10e  dec r11d
   111  jne .L4
   113  add rsi, 0xc00
   11a  sub r8, 0x1000
   121  jae .L3
.L5:
   123  add r8, 0x1000
        ; vectors, stored past the caches
   12a  sub r8, 0x40
   12e  jb .L7
   134  add r8, rsi
   137  nop word ptr [rax + rax]
.L6:
        ; %0 = load u32 $1
   140  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
   147  vmovups zmm17, zmmword ptr [rbx + 4*rsi + 0x40]
   14f  vmovups zmm18, zmmword ptr [rbx + 4*rsi + 0x80]
   157  vmovups zmm19, zmmword ptr [rbx + 4*rsi + 0xc0]
        ; store u32 $0 %0
   15f  vmovntps zmmword ptr [r9 + 4*rsi], zmm16
   166  vmovntps zmmword ptr [r9 + 4*rsi + 0x40], zmm17
   16e  vmovntps zmmword ptr [r9 + 4*rsi + 0x80], zmm18
   176  vmovntps zmmword ptr [r9 + 4*rsi + 0xc0], zmm19
        ; addresses
   17e  add rsi, 0x40
   182  cmp rsi, r8
   185  jbe .L6
   187  sub r8, rsi
.L7:
   18a  add r8, 0x30
   18e  js .L9
   194  nop word ptr [rax + rax]
   19d  nop dword ptr [rax]
.L8:
        ; %0 = load u32 $1
   1a0  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   1a7  vmovntps zmmword ptr [r9 + 4*rsi], zmm16
        ; addresses
   1ae  add rsi, 0x10
   1b2  sub r8, 0x10
   1b6  jae .L8
.L9:
   1b8  add r8, 0x10
.L10:
        ; vectors
   1bc  sub r8, 0x10
   1c0  jb .L12
   1c6  nop word ptr [rax + rax]
   1cf  nop word ptr [rax + rax]
   1d8  nop dword ptr [rax + rax]
.L11:
        ; %0 = load u32 $1
   1e0  vmovups zmm16, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   1e7  vmovups zmmword ptr [r9 + 4*rsi], zmm16
        ; addresses
   1ee  add rsi, 0x10
   1f2  sub r8, 0x10
   1f6  jae .L11
.L12:
   1f8  add r8, 0x10
   1fc  test r8, r8
   1ff  je .L13
        ; tail
   205  mov r11d, 0x10
   20b  cmp r8, r11
   20e  cmovb r11, r8
   212  mov eax, 0xffffffff
   217  bzhi eax, eax, r11d
   21c  kmovd k1, eax
        ; %0 = load u32 $1
   220  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   227  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm16
.L13:
        ; next iteration
   22e  mov rax, qword ptr [rdi + 0x10]
   232  add r9, qword ptr [rax]
   235  add rbx, qword ptr [rax + 0x8]
   239  dec qword ptr [rsp + 0x8]
   23e  jne .L0
        ; return
   244  sfence
   247  mov rsp, qword ptr [rsp]
   24b  pop rbx
   24c  ret
