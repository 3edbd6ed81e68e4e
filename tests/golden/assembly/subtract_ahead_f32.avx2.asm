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
    26  mov rbx, qword ptr [rcx + 0x8]
    2a  mov rax, qword ptr [rcx + 0x10]
    2e  mov qword ptr [rsp], rax
.L0:
    32  mov rax, qword ptr [rdi + 0x8]
    36  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    3a  xor esi, esi
        ; %0 = load f32 $2
    3c  mov rax, qword ptr [rsp]
    40  vpbroadcastd ymm0, dword ptr [rax]
        ; vectors
    45  sub r8, 0x20
    49  jb .L2
    4f  nop word ptr [rax + rax]
    58  nop dword ptr [rax + rax]
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
   151  mov rcx, qword ptr [rax + 0x10]
   155  add qword ptr [rsp], rcx
   159  dec qword ptr [rsp + 0x10]
   15e  jne .L0
        ; return
   164  vzeroupper
   167  mov rsp, qword ptr [rsp + 0x8]
   16c  pop rbx
   16d  ret
