        ; entry
     0  push rbx
     1  push rbp
     2  push r12
     4  push r13
     6  mov rax, rsp
     9  sub rsp, 0x40
    10  and rsp, -0x40
    14  mov qword ptr [rsp], rax
        ; enter a loop
    18  mov rax, qword ptr [rdi + 0x8]
    1c  mov rax, qword ptr [rax]
    1f  mov r13, rax
    22  mov rcx, qword ptr [rdi]
    25  mov r9, qword ptr [rcx]
    28  mov rbx, qword ptr [rcx + 0x8]
    2c  mov r12, qword ptr [rcx + 0x10]
    30  mov rbp, qword ptr [rcx + 0x18]
.L0:
    34  mov rax, qword ptr [rdi + 0x8]
    38  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    3c  xor esi, esi
        ; %0 = load f32 $2
    3e  vpbroadcastd ymm0, dword ptr [r12]
        ; vectors
    44  sub r8, 0x20
    48  jb .L2
    4e  nop word ptr [rax + rax]
    57  nop word ptr [rax + rax]
.L1:
        ; %1 = load f32 $1
    60  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
    65  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x20]
    6b  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x40]
    71  vmovups ymm4, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %2 = load f32 $3
    77  vmovups ymm5, ymmword ptr [rbp + 4*rsi]
    7d  vmovups ymm6, ymmword ptr [rbp + 4*rsi + 0x20]
    83  vmovups ymm7, ymmword ptr [rbp + 4*rsi + 0x40]
    89  vmovups ymm8, ymmword ptr [rbp + 4*rsi + 0x60]
        ; %3 = mul f32 %1, %0
    8f  vmulps ymm9, ymm1, ymm0
    93  vmulps ymm1, ymm2, ymm0
    97  vmulps ymm2, ymm3, ymm0
    9b  vmulps ymm3, ymm4, ymm0
        ; %4 = add f32 %3, %2
    9f  vaddps ymm4, ymm9, ymm5
    a3  vaddps ymm5, ymm1, ymm6
    a7  vaddps ymm1, ymm2, ymm7
    ab  vaddps ymm2, ymm3, ymm8
        ; store f32 $0 %4
    b0  vmovups ymmword ptr [r9 + 4*rsi], ymm4
    b6  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm5
    bd  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm1
    c4  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm2
        ; addresses
    cb  add rsi, 0x20
    cf  sub r8, 0x20
    d3  jae .L1
.L2:
    d5  add r8, 0x18
    d9  js .L4
    df  nop
.L3:
        ; %1 = load f32 $1
    e0  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
        ; %2 = load f32 $3
    e5  vmovups ymm2, ymmword ptr [rbp + 4*rsi]
        ; %3 = mul f32 %1, %0
    eb  vmulps ymm3, ymm1, ymm0
        ; %4 = add f32 %3, %2
    ef  vaddps ymm1, ymm3, ymm2
        ; store f32 $0 %4
    f3  vmovups ymmword ptr [r9 + 4*rsi], ymm1
        ; addresses
    f9  add rsi, 0x8
    fd  sub r8, 0x8
   101  jae .L3
.L4:
   103  add r8, 0x8
   107  je .L5
        ; tail
   10d  mov r11d, 0x8
   113  cmp r8, r11
   116  cmovb r11, r8
        ; %1 = load f32 $1
   11a  lea rcx, [rip - 0x161]
   121  mov rdx, r11
   124  neg rdx
   127  vmovups ymm2, ymmword ptr [rcx + 4*rdx + 0x20]
   12d  vpmaskmovd ymm1, ymm2, ymmword ptr [rbx + 4*rsi]
        ; %2 = load f32 $3
   133  lea rcx, [rip - 0x17a]
   13a  mov rdx, r11
   13d  neg rdx
   140  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   146  vpmaskmovd ymm2, ymm3, ymmword ptr [rbp + 4*rsi]
        ; %3 = mul f32 %1, %0
   14d  vmulps ymm3, ymm1, ymm0
        ; %4 = add f32 %3, %2
   151  vaddps ymm1, ymm3, ymm2
        ; store f32 $0 %4
   155  lea rcx, [rip - 0x19c]
   15c  mov rdx, r11
   15f  neg rdx
   162  vmovups ymm2, ymmword ptr [rcx + 4*rdx + 0x20]
   168  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm2, ymm1
.L5:
        ; next iteration
   16e  mov rax, qword ptr [rdi + 0x10]
   172  add r9, qword ptr [rax]
   175  add rbx, qword ptr [rax + 0x8]
   179  add r12, qword ptr [rax + 0x10]
   17d  add rbp, qword ptr [rax + 0x18]
   181  dec r13
   184  jne .L0
        ; return
   18a  vzeroupper
   18d  mov rsp, qword ptr [rsp]
   191  pop r13
   193  pop r12
   195  pop rbp
   196  pop rbx
   197  ret
