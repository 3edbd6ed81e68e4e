        ; entry
     0  push rbx
     1  push rbp
     2  mov rcx, qword ptr [rdi]
     5  mov r9, qword ptr [rcx]
     8  mov rbx, qword ptr [rcx + 0x8]
     c  mov rbp, qword ptr [rcx + 0x10]
    10  mov rax, qword ptr [rdi + 0x8]
    14  mov r8, qword ptr [rax]
        ; start of the innermost loop
    17  xor esi, esi
        ; vectors
    19  sub r8, 0x20
    1d  jb .L1
    23  nop word ptr [rax + rax]
    2c  nop word ptr [rax + rax]
    35  nop word ptr [rax + rax]
    3e  nop
.L0:
        ; %0 = load f32 $1
    40  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
    45  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
    4b  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x40]
    51  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %1 = load f32 $2
    57  vmovups ymm4, ymmword ptr [rbp + 4*rsi]
    5d  vmovups ymm5, ymmword ptr [rbp + 4*rsi + 0x20]
    63  vmovups ymm6, ymmword ptr [rbp + 4*rsi + 0x40]
    69  vmovups ymm7, ymmword ptr [rbp + 4*rsi + 0x60]
        ; %2 = add f32 %0, %1
    6f  vaddps ymm8, ymm0, ymm4
    73  vaddps ymm0, ymm1, ymm5
    77  vaddps ymm1, ymm2, ymm6
    7b  vaddps ymm2, ymm3, ymm7
        ; store f32 $0 %2
    7f  vmovups ymmword ptr [r9 + 4*rsi], ymm8
    85  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm0
    8c  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm1
    93  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm2
        ; addresses
    9a  add rsi, 0x20
    9e  sub r8, 0x20
    a2  jae .L0
.L1:
    a4  add r8, 0x18
    a8  js .L3
    ae  nop word ptr [rax + rax]
    b7  nop word ptr [rax + rax]
.L2:
        ; %0 = load f32 $1
    c0  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
        ; %1 = load f32 $2
    c5  vmovups ymm1, ymmword ptr [rbp + 4*rsi]
        ; %2 = add f32 %0, %1
    cb  vaddps ymm2, ymm0, ymm1
        ; store f32 $0 %2
    cf  vmovups ymmword ptr [r9 + 4*rsi], ymm2
        ; addresses
    d5  add rsi, 0x8
    d9  sub r8, 0x8
    dd  jae .L2
.L3:
    df  add r8, 0x8
    e3  je .L4
        ; tail
    e9  mov r11d, 0x8
    ef  cmp r8, r11
    f2  cmovb r11, r8
        ; %0 = load f32 $1
    f6  lea rcx, [rip - 0x13d]
    fd  mov rdx, r11
   100  neg rdx
   103  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   109  vpmaskmovd ymm0, ymm1, ymmword ptr [rbx + 4*rsi]
        ; %1 = load f32 $2
   10f  lea rcx, [rip - 0x156]
   116  mov rdx, r11
   119  neg rdx
   11c  vmovups ymm2, ymmword ptr [rcx + 4*rdx + 0x20]
   122  vpmaskmovd ymm1, ymm2, ymmword ptr [rbp + 4*rsi]
        ; %2 = add f32 %0, %1
   129  vaddps ymm2, ymm0, ymm1
        ; store f32 $0 %2
   12d  lea rcx, [rip - 0x174]
   134  mov rdx, r11
   137  neg rdx
   13a  vmovups ymm0, ymmword ptr [rcx + 4*rdx + 0x20]
   140  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm0, ymm2
.L4:
        ; return
   146  vzeroupper
   149  pop rbp
   14a  pop rbx
   14b  ret
