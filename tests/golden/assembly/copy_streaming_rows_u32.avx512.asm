        ; entry
     0  push rbx
     1  push rbp
     2  mov rax, rsp
     5  sub rsp, 0x40
     c  and rsp, -0x40
    10  mov qword ptr [rsp], rax
        ; enter a loop
    14  mov rax, qword ptr [rdi + 0x8]
    18  mov rax, qword ptr [rax]
    1b  mov rbp, rax
    1e  mov rcx, qword ptr [rdi]
    21  mov r9, qword ptr [rcx]
    24  mov rbx, qword ptr [rcx + 0x8]
.L0:
    28  mov rax, qword ptr [rdi + 0x8]
    2c  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    30  xor esi, esi
        ; head, up to where the output is aligned
    32  lea rcx, [r9 + 4*rsi]
    36  neg rcx
    39  and ecx, 0x3f
    3c  shr ecx, 0x2
    3f  mov r11, rcx
    42  cmp r11, r8
    45  cmova r11, r8
    49  cmp r8, 0x80
    50  jae .L1
    56  test r11, r11
    59  jne .L10
.L1:
    5f  test r11, r11
    62  je .L2
    68  mov eax, 0xffffffff
    6d  bzhi eax, eax, r11d
    72  kmovd k1, eax
        ; %0 = load u32 $1
    76  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
    7d  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm16
        ; addresses
    84  add rsi, r11
    87  sub r8, r11
.L2:
    8a  xor ecx, ecx
    8c  lea rdx, [r9 + 4*rsi]
    90  and edx, 0x3f
    93  or ecx, edx
    95  test ecx, ecx
    97  jne .L10
    9d  sub r8, 0x1000
    a4  jb .L5
.L3:
        ; four pages in turn
    aa  mov r11d, 0x40
    b0  nop word ptr [rax + rax]
    b9  nop dword ptr [rax]
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
   239  dec rbp
   23c  jne .L0
        ; return
   242  sfence
   245  mov rsp, qword ptr [rsp]
   249  pop rbp
   24a  pop rbx
   24b  ret
