        ; entry
     0  push rbx
     1  push rbp
     2  push r12
     4  mov rax, rsp
     7  sub rsp, 0x40
     e  and rsp, -0x40
    12  mov qword ptr [rsp], rax
        ; enter a loop
    16  mov rax, qword ptr [rdi + 0x8]
    1a  mov rax, qword ptr [rax]
    1d  mov qword ptr [rsp + 0x8], rax
    22  mov rax, qword ptr [rdi]
    25  mov rax, qword ptr [rax]
    28  mov qword ptr [rsp + 0x18], rax
    2d  mov rax, qword ptr [rdi]
    30  mov rax, qword ptr [rax + 0x8]
    34  mov qword ptr [rsp + 0x20], rax
    39  mov rax, qword ptr [rdi]
    3c  mov rax, qword ptr [rax + 0x10]
    40  mov qword ptr [rsp + 0x28], rax
.L0:
        ; enter a loop
    45  mov rax, qword ptr [rdi + 0x8]
    49  mov rax, qword ptr [rax + 0x8]
    4d  mov r12, rax
    50  mov rbp, qword ptr [rsp + 0x18]
    55  mov r9, qword ptr [rsp + 0x20]
    5a  mov rbx, qword ptr [rsp + 0x28]
.L1:
    5f  mov rax, qword ptr [rdi + 0x8]
    63  mov r8, qword ptr [rax + 0x10]
        ; start of a row
    67  xor esi, esi
    69  sub r8, 0x40
    6d  jb .L3
        ; partial results
    73  vmovups ymm15, ymmword ptr [rbp]
    78  vmovups ymm14, ymmword ptr [rbp + 0x20]
    7d  vmovups ymm13, ymmword ptr [rbp + 0x40]
    82  vmovups ymm12, ymmword ptr [rbp + 0x60]
    87  vmovups ymm11, ymmword ptr [rbp + 0x80]
    8f  vmovups ymm10, ymmword ptr [rbp + 0xa0]
    97  vmovups ymm9, ymmword ptr [rbp + 0xc0]
    9f  vmovups ymm8, ymmword ptr [rbp + 0xe0]
    a7  nop word ptr [rax + rax]
    b0  nop word ptr [rax + rax]
    b9  nop dword ptr [rax]
.L2:
        ; %0 = load f32 $1
    c0  vmovups ymm0, ymmword ptr [r9 + 4*rsi]
        ; %1 = load f32 $2
    c6  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
        ; %2 = sub f32 %0, %1
    cb  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
    cf  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
    d3  vaddps ymm15, ymm15, ymm0
        ; %0 = load f32 $1
    d7  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x20]
        ; %1 = load f32 $2
    de  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
        ; %2 = sub f32 %0, %1
    e4  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
    e8  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
    ec  vaddps ymm14, ymm14, ymm0
        ; %0 = load f32 $1
    f0  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x40]
        ; %1 = load f32 $2
    f7  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x40]
        ; %2 = sub f32 %0, %1
    fd  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   101  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   105  vaddps ymm13, ymm13, ymm0
        ; %0 = load f32 $1
   109  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x60]
        ; %1 = load f32 $2
   110  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %2 = sub f32 %0, %1
   116  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   11a  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   11e  vaddps ymm12, ymm12, ymm0
        ; %0 = load f32 $1
   122  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x80]
        ; %1 = load f32 $2
   12c  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x80]
        ; %2 = sub f32 %0, %1
   135  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   139  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   13d  vaddps ymm11, ymm11, ymm0
        ; %0 = load f32 $1
   141  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xa0]
        ; %1 = load f32 $2
   14b  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0xa0]
        ; %2 = sub f32 %0, %1
   154  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   158  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   15c  vaddps ymm10, ymm10, ymm0
        ; %0 = load f32 $1
   160  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xc0]
        ; %1 = load f32 $2
   16a  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0xc0]
        ; %2 = sub f32 %0, %1
   173  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   177  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   17b  vaddps ymm9, ymm9, ymm0
        ; %0 = load f32 $1
   17f  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xe0]
        ; %1 = load f32 $2
   189  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0xe0]
        ; %2 = sub f32 %0, %1
   192  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   196  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   19a  vaddps ymm8, ymm8, ymm0
        ; addresses
   19e  add rsi, 0x40
   1a2  sub r8, 0x40
   1a6  jae .L2
        ; partial results
   1ac  vmovups ymmword ptr [rbp], ymm15
   1b1  vmovups ymmword ptr [rbp + 0x20], ymm14
   1b6  vmovups ymmword ptr [rbp + 0x40], ymm13
   1bb  vmovups ymmword ptr [rbp + 0x60], ymm12
   1c0  vmovups ymmword ptr [rbp + 0x80], ymm11
   1c8  vmovups ymmword ptr [rbp + 0xa0], ymm10
   1d0  vmovups ymmword ptr [rbp + 0xc0], ymm9
   1d8  vmovups ymmword ptr [rbp + 0xe0], ymm8
.L3:
   1e0  add r8, 0x40
        ; vectors
   1e4  sub r8, 0x8
   1e8  jb .L5
   1ee  nop word ptr [rax + rax]
   1f7  nop word ptr [rax + rax]
.L4:
        ; %0 = load f32 $1
   200  vmovups ymm0, ymmword ptr [r9 + 4*rsi]
        ; %1 = load f32 $2
   206  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
        ; %2 = sub f32 %0, %1
   20b  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   20f  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   213  mov ecx, esi
   215  and ecx, 0x3f
   218  vmovups ymm2, ymmword ptr [rbp + 4*rcx]
   21e  vaddps ymm1, ymm2, ymm0
   222  mov ecx, esi
   224  and ecx, 0x3f
   227  vmovups ymmword ptr [rbp + 4*rcx], ymm1
        ; addresses
   22d  add rsi, 0x8
   231  sub r8, 0x8
   235  jae .L4
.L5:
   237  add r8, 0x8
   23b  je .L6
        ; tail
   241  mov r11d, 0x8
   247  cmp r8, r11
   24a  cmovb r11, r8
        ; %0 = load f32 $1
   24e  lea rcx, [rip - 0x295]
   255  mov rdx, r11
   258  neg rdx
   25b  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   261  vpmaskmovd ymm0, ymm1, ymmword ptr [r9 + 4*rsi]
        ; %1 = load f32 $2
   267  lea rcx, [rip - 0x2ae]
   26e  mov rdx, r11
   271  neg rdx
   274  vmovups ymm2, ymmword ptr [rcx + 4*rdx + 0x20]
   27a  vpmaskmovd ymm1, ymm2, ymmword ptr [rbx + 4*rsi]
        ; %2 = sub f32 %0, %1
   280  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   284  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   288  mov ecx, esi
   28a  and ecx, 0x3f
   28d  vmovups ymm2, ymmword ptr [rbp + 4*rcx]
   293  vaddps ymm1, ymm2, ymm0
   297  lea rcx, [rip - 0x2de]
   29e  mov rdx, r11
   2a1  neg rdx
   2a4  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   2aa  vpblendvb ymm2, ymm2, ymm1, ymm3
   2b0  mov ecx, esi
   2b2  and ecx, 0x3f
   2b5  vmovups ymmword ptr [rbp + 4*rcx], ymm2
.L6:
        ; next iteration
   2bb  mov rax, qword ptr [rdi + 0x10]
   2bf  add r9, qword ptr [rax + 0x20]
   2c3  add rbx, qword ptr [rax + 0x28]
   2c7  dec r12
   2ca  jne .L1
        ; next iteration
   2d0  mov rax, qword ptr [rdi + 0x10]
   2d4  mov rcx, qword ptr [rax]
   2d7  add qword ptr [rsp + 0x18], rcx
   2dc  mov rcx, qword ptr [rax + 0x8]
   2e0  add qword ptr [rsp + 0x20], rcx
   2e5  mov rcx, qword ptr [rax + 0x10]
   2e9  add qword ptr [rsp + 0x28], rcx
   2ee  dec qword ptr [rsp + 0x8]
   2f3  jne .L0
        ; return
   2f9  vzeroupper
   2fc  mov rsp, qword ptr [rsp]
   300  pop r12
   302  pop rbp
   303  pop rbx
   304  ret
