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
    1d  mov r12, rax
    20  mov rcx, qword ptr [rdi]
    23  mov r9, qword ptr [rcx]
    26  mov rbx, qword ptr [rcx + 0x8]
    2a  mov rbp, qword ptr [rcx + 0x10]
.L0:
    2e  mov rax, qword ptr [rdi + 0x8]
    32  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    36  xor esi, esi
        ; %0 = load f32 $2
    38  vpbroadcastd ymm0, dword ptr [rbp]
        ; vectors
    3e  sub r8, 0x20
    42  jb .L2
    48  nop word ptr [rax + rax]
    51  nop word ptr [rax + rax]
    5a  nop word ptr [rax + rax]
.L1:
        ; %1 = load f32 $1
    60  prefetcht1 byte ptr [rbx + 4*rsi + 0x40000]
    68  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
    6d  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x20]
    73  prefetcht1 byte ptr [rbx + 4*rsi + 0x40040]
    7b  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x40]
    81  vmovups ymm4, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %2 = sub f32 %1, %0
    87  vsubps ymm5, ymm1, ymm0
    8b  vsubps ymm1, ymm2, ymm0
    8f  vsubps ymm2, ymm3, ymm0
    93  vsubps ymm3, ymm4, ymm0
        ; store f32 $0 %2
    97  vmovups ymmword ptr [r9 + 4*rsi], ymm5
    9d  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm1
    a4  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm2
    ab  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
    b2  add rsi, 0x20
    b6  sub r8, 0x20
    ba  jae .L1
.L2:
    bc  add r8, 0x18
    c0  js .L4
    c6  nop word ptr [rax + rax]
    cf  nop word ptr [rax + rax]
    d8  nop dword ptr [rax + rax]
.L3:
        ; %1 = load f32 $1
    e0  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
        ; %2 = sub f32 %1, %0
    e5  vsubps ymm2, ymm1, ymm0
        ; store f32 $0 %2
    e9  vmovups ymmword ptr [r9 + 4*rsi], ymm2
        ; addresses
    ef  add rsi, 0x8
    f3  sub r8, 0x8
    f7  jae .L3
.L4:
    f9  add r8, 0x8
    fd  je .L5
        ; tail
   103  mov r11d, 0x8
   109  cmp r8, r11
   10c  cmovb r11, r8
        ; %1 = load f32 $1
   110  lea rcx, [rip - 0x157]
   117  mov rdx, r11
   11a  neg rdx
   11d  vmovups ymm2, ymmword ptr [rcx + 4*rdx + 0x20]
   123  vpmaskmovd ymm1, ymm2, ymmword ptr [rbx + 4*rsi]
        ; %2 = sub f32 %1, %0
   129  vsubps ymm2, ymm1, ymm0
        ; store f32 $0 %2
   12d  lea rcx, [rip - 0x174]
   134  mov rdx, r11
   137  neg rdx
   13a  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   140  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm1, ymm2
.L5:
        ; next iteration
   146  mov rax, qword ptr [rdi + 0x10]
   14a  add r9, qword ptr [rax]
   14d  add rbx, qword ptr [rax + 0x8]
   151  add rbp, qword ptr [rax + 0x10]
   155  dec r12
   158  jne .L0
        ; return
   15e  vzeroupper
   161  mov rsp, qword ptr [rsp]
   165  pop r12
   167  pop rbp
   168  pop rbx
   169  ret
