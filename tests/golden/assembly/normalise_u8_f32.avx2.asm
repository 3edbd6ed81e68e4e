        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0x18], rax
        ; %0 = param f32 #0
    14  mov rax, qword ptr [rdi + 0x18]
    18  vpbroadcastd ymm0, dword ptr [rax]
        ; enter a loop
    1d  mov rax, qword ptr [rdi + 0x8]
    21  mov rax, qword ptr [rax]
    24  mov qword ptr [rsp + 0x20], rax
    29  mov rcx, qword ptr [rdi]
    2c  mov r9, qword ptr [rcx]
    2f  mov rax, qword ptr [rcx + 0x8]
    33  mov qword ptr [rsp], rax
    37  mov rax, qword ptr [rcx + 0x10]
    3b  mov qword ptr [rsp + 0x8], rax
    40  mov rax, qword ptr [rcx + 0x18]
    44  mov qword ptr [rsp + 0x10], rax
.L0:
    49  mov rax, qword ptr [rdi + 0x8]
    4d  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    51  mov rbx, qword ptr [rsp]
    55  xor esi, esi
        ; %1 = load f32 $2
    57  mov rax, qword ptr [rsp + 0x8]
    5c  vpbroadcastd ymm1, dword ptr [rax]
        ; %2 = load f32 $3
    61  mov rax, qword ptr [rsp + 0x10]
    66  vpbroadcastd ymm2, dword ptr [rax]
        ; vectors
    6b  sub r8, 0x24
    6f  jb .L2
    75  nop word ptr [rax + rax]
    7e  nop
.L1:
        ; %3 = load u8 $1
    80  vmovups xmm3, xmmword ptr [rbx]
    84  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x9d]
    8d  vmovups xmm4, xmmword ptr [rbx + 0x10]
    92  vpshufb xmm4, xmm4, xmmword ptr [rip - 0xbb]
    9b  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
    9f  vpmovzxbd ymm5, xmm3
    a4  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
    a8  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
    ac  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
    b0  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
    b4  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; %3 = load u8 $1
    ba  vmovups xmm3, xmmword ptr [rbx + 0x18]
    bf  vpshufb xmm3, xmm3, xmmword ptr [rip - 0xd8]
    c8  vmovups xmm4, xmmword ptr [rbx + 0x28]
    cd  vpshufb xmm4, xmm4, xmmword ptr [rip - 0xf6]
    d6  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
    da  vpmovzxbd ymm5, xmm3
    df  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
    e3  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
    e7  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
    eb  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
    ef  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm3
        ; %3 = load u8 $1
    f6  vmovups xmm3, xmmword ptr [rbx + 0x30]
    fb  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x114]
   104  vmovups xmm4, xmmword ptr [rbx + 0x40]
   109  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x132]
   112  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   116  vpmovzxbd ymm5, xmm3
   11b  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   11f  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   123  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   127  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   12b  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm3
        ; %3 = load u8 $1
   132  vmovups xmm3, xmmword ptr [rbx + 0x48]
   137  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x150]
   140  vmovups xmm4, xmmword ptr [rbx + 0x58]
   145  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x16e]
   14e  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   152  vpmovzxbd ymm5, xmm3
   157  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   15b  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   15f  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   163  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   167  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
   16e  add rsi, 0x20
   172  add rbx, 0x60
   176  sub r8, 0x20
   17a  jae .L1
.L2:
   180  add r8, 0x18
   184  js .L4
   18a  nop word ptr [rax + rax]
   193  nop word ptr [rax + rax]
   19c  nop dword ptr [rax]
.L3:
        ; %3 = load u8 $1
   1a0  vmovups xmm3, xmmword ptr [rbx]
   1a4  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x1bd]
   1ad  vmovups xmm4, xmmword ptr [rbx + 0x10]
   1b2  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x1db]
   1bb  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   1bf  vpmovzxbd ymm5, xmm3
   1c4  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   1c8  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   1cc  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   1d0  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   1d4  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; addresses
   1da  add rsi, 0x8
   1de  add rbx, 0x18
   1e2  sub r8, 0x8
   1e6  jae .L3
.L4:
   1e8  add r8, 0xc
   1ec  je .L7
.L5:
        ; tail
   1f2  mov r11d, 0x8
   1f8  cmp r8, r11
   1fb  cmovb r11, r8
        ; %3 = load u8 $1
   1ff  lea rax, [rbx]
   202  mov edx, 0x3
   207  xor ecx, ecx
.L6:
   209  mov r10b, byte ptr [rax]
   20c  mov byte ptr [rsp + rcx + 0x40], r10b
   211  add rax, rdx
   214  inc rcx
   217  cmp rcx, r11
   21a  jb .L6
   21c  vmovq xmm3, qword ptr [rsp + 0x40]
        ; %4 = cast f32 %3
   222  vpmovzxbd ymm5, xmm3
   227  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   22b  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   22f  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   233  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   237  lea rcx, [rip - 0x2be]
   23e  mov rdx, r11
   241  neg rdx
   244  vmovups ymm4, ymmword ptr [rcx + 4*rdx + 0x20]
   24a  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm4, ymm3
        ; addresses
   250  add rsi, 0x8
   254  add rbx, 0x18
   258  sub r8, 0x8
   25c  ja .L5
.L7:
        ; next iteration
   25e  mov rax, qword ptr [rdi + 0x10]
   262  add r9, qword ptr [rax]
   265  mov rcx, qword ptr [rax + 0x8]
   269  add qword ptr [rsp], rcx
   26d  mov rcx, qword ptr [rax + 0x10]
   271  add qword ptr [rsp + 0x8], rcx
   276  mov rcx, qword ptr [rax + 0x18]
   27a  add qword ptr [rsp + 0x10], rcx
   27f  dec qword ptr [rsp + 0x20]
   284  jne .L0
        ; return
   28a  vzeroupper
   28d  mov rsp, qword ptr [rsp + 0x18]
   292  pop rbx
   293  ret
