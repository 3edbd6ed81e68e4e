        ; entry
     0  push rbx
        ; %0 = param f32 #0
     1  mov rax, qword ptr [rdi + 0x18]
     5  vpbroadcastd ymm0, dword ptr [rax]
     a  vcmpunordps ymm15, ymm0, ymm0
        ; %1 = param f32 #1
     f  mov rax, qword ptr [rdi + 0x18]
    13  vpbroadcastd ymm1, dword ptr [rax + 0x10]
    19  vcmpunordps ymm14, ymm1, ymm1
    1e  mov rcx, qword ptr [rdi]
    21  mov r9, qword ptr [rcx]
    24  mov rbx, qword ptr [rcx + 0x8]
    28  mov rax, qword ptr [rdi + 0x8]
    2c  mov r8, qword ptr [rax]
        ; start of the innermost loop
    2f  xor esi, esi
        ; vectors
    31  sub r8, 0x20
    35  jb .L1
    3b  nop dword ptr [rax + rax]
.L0:
        ; %2 = load f32 $1
    40  vmovups ymm2, ymmword ptr [rbx + 4*rsi]
    45  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x20]
    4b  vmovups ymm4, ymmword ptr [rbx + 4*rsi + 0x40]
    51  vmovups ymm5, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %3 = maximum f32 %0, %2
    57  vmaxps ymm6, ymm0, ymm2
    5b  vblendvps ymm6, ymm6, ymm0, ymm15
    61  vmaxps ymm2, ymm0, ymm3
    65  vblendvps ymm2, ymm2, ymm0, ymm15
    6b  vmaxps ymm3, ymm0, ymm4
    6f  vblendvps ymm3, ymm3, ymm0, ymm15
    75  vmaxps ymm4, ymm0, ymm5
    79  vblendvps ymm4, ymm4, ymm0, ymm15
        ; %4 = minimum f32 %1, %3
    7f  vminps ymm5, ymm1, ymm6
    83  vblendvps ymm5, ymm5, ymm1, ymm14
    89  vminps ymm6, ymm1, ymm2
    8d  vblendvps ymm6, ymm6, ymm1, ymm14
    93  vminps ymm2, ymm1, ymm3
    97  vblendvps ymm2, ymm2, ymm1, ymm14
    9d  vminps ymm3, ymm1, ymm4
    a1  vblendvps ymm3, ymm3, ymm1, ymm14
        ; store f32 $0 %4
    a7  vmovups ymmword ptr [r9 + 4*rsi], ymm5
    ad  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm6
    b4  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm2
    bb  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
    c2  add rsi, 0x20
    c6  sub r8, 0x20
    ca  jae .L0
.L1:
    d0  add r8, 0x18
    d4  js .L3
    da  nop word ptr [rax + rax]
.L2:
        ; %2 = load f32 $1
    e0  vmovups ymm2, ymmword ptr [rbx + 4*rsi]
        ; %3 = maximum f32 %0, %2
    e5  vmaxps ymm3, ymm0, ymm2
    e9  vblendvps ymm3, ymm3, ymm0, ymm15
        ; %4 = minimum f32 %1, %3
    ef  vminps ymm2, ymm1, ymm3
    f3  vblendvps ymm2, ymm2, ymm1, ymm14
        ; store f32 $0 %4
    f9  vmovups ymmword ptr [r9 + 4*rsi], ymm2
        ; addresses
    ff  add rsi, 0x8
   103  sub r8, 0x8
   107  jae .L2
.L3:
   109  add r8, 0x8
   10d  je .L4
        ; tail
   113  mov r11d, 0x8
   119  cmp r8, r11
   11c  cmovb r11, r8
        ; %2 = load f32 $1
   120  lea rcx, [rip - 0x167]
   127  mov rdx, r11
   12a  neg rdx
   12d  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   133  vpmaskmovd ymm2, ymm3, ymmword ptr [rbx + 4*rsi]
        ; %3 = maximum f32 %0, %2
   139  vmaxps ymm3, ymm0, ymm2
   13d  vblendvps ymm3, ymm3, ymm0, ymm15
        ; %4 = minimum f32 %1, %3
   143  vminps ymm2, ymm1, ymm3
   147  vblendvps ymm2, ymm2, ymm1, ymm14
        ; store f32 $0 %4
   14d  lea rcx, [rip - 0x194]
   154  mov rdx, r11
   157  neg rdx
   15a  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   160  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm3, ymm2
.L4:
        ; return
   166  vzeroupper
   169  pop rbx
   16a  ret
