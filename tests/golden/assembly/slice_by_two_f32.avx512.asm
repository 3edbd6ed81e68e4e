        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0x8], rax
        ; enter a loop
    14  mov rax, qword ptr [rdi + 0x8]
    18  mov rax, qword ptr [rax]
    1b  mov qword ptr [rsp + 0x10], rax
    20  mov rcx, qword ptr [rdi]
    23  mov r9, qword ptr [rcx]
    26  mov rax, qword ptr [rcx + 0x8]
    2a  mov qword ptr [rsp], rax
.L0:
    2e  mov rax, qword ptr [rdi + 0x8]
    32  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    36  mov rbx, qword ptr [rsp]
    3a  xor esi, esi
        ; vectors
    3c  sub r8, 0x41
    40  jb .L2
    46  nop word ptr [rax + rax]
    4f  nop word ptr [rax + rax]
    58  nop dword ptr [rax + rax]
.L1:
        ; %0 = load u32 $1
    60  vmovups zmm16, zmmword ptr [rbx]
    66  vmovups zmm17, zmmword ptr [rip - 0xb0]
    70  vpermt2d zmm16, zmm17, zmmword ptr [rbx + 0x40]
        ; store u32 $0 %0
    77  vmovups zmmword ptr [r9 + 4*rsi], zmm16
        ; %0 = load u32 $1
    7e  vmovups zmm16, zmmword ptr [rbx + 0x80]
    85  vmovups zmm17, zmmword ptr [rip - 0xcf]
    8f  vpermt2d zmm16, zmm17, zmmword ptr [rbx + 0xc0]
        ; store u32 $0 %0
    96  vmovups zmmword ptr [r9 + 4*rsi + 0x40], zmm16
        ; %0 = load u32 $1
    9e  vmovups zmm16, zmmword ptr [rbx + 0x100]
    a5  vmovups zmm17, zmmword ptr [rip - 0xef]
    af  vpermt2d zmm16, zmm17, zmmword ptr [rbx + 0x140]
        ; store u32 $0 %0
    b6  vmovups zmmword ptr [r9 + 4*rsi + 0x80], zmm16
        ; %0 = load u32 $1
    be  vmovups zmm16, zmmword ptr [rbx + 0x180]
    c5  vmovups zmm17, zmmword ptr [rip - 0x10f]
    cf  vpermt2d zmm16, zmm17, zmmword ptr [rbx + 0x1c0]
        ; store u32 $0 %0
    d6  vmovups zmmword ptr [r9 + 4*rsi + 0xc0], zmm16
        ; addresses
    de  add rsi, 0x40
    e2  add rbx, 0x200
    e9  sub r8, 0x40
    ed  jae .L1
.L2:
    f3  add r8, 0x30
    f7  js .L4
    fd  nop dword ptr [rax]
.L3:
        ; %0 = load u32 $1
   100  vmovups zmm16, zmmword ptr [rbx]
   106  vmovups zmm17, zmmword ptr [rip - 0x150]
   110  vpermt2d zmm16, zmm17, zmmword ptr [rbx + 0x40]
        ; store u32 $0 %0
   117  vmovups zmmword ptr [r9 + 4*rsi], zmm16
        ; addresses
   11e  add rsi, 0x10
   122  add rbx, 0x80
   129  sub r8, 0x10
   12d  jae .L3
.L4:
   12f  add r8, 0x11
   133  je .L6
.L5:
        ; tail
   139  mov r11d, 0x10
   13f  cmp r8, r11
   142  cmovb r11, r8
   146  mov eax, 0xffffffff
   14b  bzhi eax, eax, r11d
   150  kmovd k1, eax
        ; %0 = load u32 $1
   154  imul rcx, r11, 0x2
   158  sub rcx, 0x1
   15c  mov rdx, -0x1
   163  bzhi rdx, rdx, rcx
   168  kmovq k2, rdx
   16d  vmovdqu32 zmm16 {k2} {z}, zmmword ptr [rbx]
   173  xor edx, edx
   175  sub rcx, 0x10
   179  cmovs rcx, rdx
   17d  mov rdx, -0x1
   184  bzhi rdx, rdx, rcx
   189  kmovq k2, rdx
   18e  vmovdqu32 zmm18 {k2} {z}, zmmword ptr [rbx + 0x40]
   195  xor edx, edx
   197  sub rcx, 0x10
   19b  cmovs rcx, rdx
   19f  vmovups zmm17, zmmword ptr [rip - 0x1e9]
   1a9  vpermt2d zmm16, zmm17, zmm18
        ; store u32 $0 %0
   1af  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm16
        ; addresses
   1b6  add rsi, 0x10
   1ba  add rbx, 0x80
   1c1  sub r8, 0x10
   1c5  ja .L5
.L6:
        ; next iteration
   1cb  mov rax, qword ptr [rdi + 0x10]
   1cf  add r9, qword ptr [rax]
   1d2  mov rcx, qword ptr [rax + 0x8]
   1d6  add qword ptr [rsp], rcx
   1da  dec qword ptr [rsp + 0x10]
   1df  jne .L0
        ; return
   1e5  mov rsp, qword ptr [rsp + 0x8]
   1ea  pop rbx
   1eb  ret
