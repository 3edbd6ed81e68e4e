        ; entry
     0  push rbx
     1  push rbp
     2  mov rax, rsp
     5  sub rsp, 0x40
     c  and rsp, -0x40
    10  mov qword ptr [rsp], rax
    14  mov rcx, qword ptr [rdi]
    17  mov r9, qword ptr [rcx]
    1a  mov rbx, qword ptr [rcx + 0x8]
    1e  mov rbp, qword ptr [rcx + 0x10]
    22  mov rax, qword ptr [rdi + 0x8]
    26  mov r8, qword ptr [rax]
        ; start of the innermost loop
    29  xor esi, esi
        ; vectors
    2b  sub r8, 0x8
    2f  jb .L1
    35  nop word ptr [rax + rax]
    3e  nop
.L0:
        ; %0 = load u8 $1
    40  vmovd xmm0, dword ptr [rbx + rsi]
    45  vmovd xmm1, dword ptr [rbx + rsi + 0x4]
        ; %1 = cast f64 %0
    4b  vpmovzxbd xmm3, xmm0
    50  vcvtdq2pd ymm2, xmm3
    54  vpmovzxbd xmm3, xmm1
    59  vcvtdq2pd ymm0, xmm3
        ; %2 = load f32 $2
    5d  vmovups xmm1, xmmword ptr [rbp + 4*rsi]
    63  vmovups xmm3, xmmword ptr [rbp + 4*rsi + 0x10]
        ; %3 = cast f64 %2
    69  vcvtps2pd ymm4, xmm1
    6d  vcvtps2pd ymm1, xmm3
        ; %4 = add f64 %1, %3
    71  vaddpd ymm3, ymm2, ymm4
    75  vaddpd ymm2, ymm0, ymm1
        ; %5 = cast f32 %4
    79  vcvtpd2ps xmm0, ymm3
    7d  vcvtpd2ps xmm1, ymm2
        ; store f32 $0 %5
    81  vmovups xmmword ptr [r9 + 4*rsi], xmm0
    87  vmovups xmmword ptr [r9 + 4*rsi + 0x10], xmm1
        ; addresses
    8e  add rsi, 0x8
    92  sub r8, 0x8
    96  jae .L0
.L1:
    98  add r8, 0x4
    9c  js .L3
    a2  nop word ptr [rax + rax]
    ab  nop word ptr [rax + rax]
    b4  nop word ptr [rax + rax]
    bd  nop dword ptr [rax]
.L2:
        ; %0 = load u8 $1
    c0  vmovd xmm0, dword ptr [rbx + rsi]
        ; %1 = cast f64 %0
    c5  vpmovzxbd xmm2, xmm0
    ca  vcvtdq2pd ymm1, xmm2
        ; %2 = load f32 $2
    ce  vmovups xmm0, xmmword ptr [rbp + 4*rsi]
        ; %3 = cast f64 %2
    d4  vcvtps2pd ymm2, xmm0
        ; %4 = add f64 %1, %3
    d8  vaddpd ymm0, ymm1, ymm2
        ; %5 = cast f32 %4
    dc  vcvtpd2ps xmm1, ymm0
        ; store f32 $0 %5
    e0  vmovups xmmword ptr [r9 + 4*rsi], xmm1
        ; addresses
    e6  add rsi, 0x4
    ea  sub r8, 0x4
    ee  jae .L2
.L3:
    f0  add r8, 0x4
    f4  je .L5
        ; tail
    fa  mov r11d, 0x4
   100  cmp r8, r11
   103  cmovb r11, r8
        ; %0 = load u8 $1
   107  lea r10, [rbx + rsi]
   10b  lea rax, [rip - 0x152]
   112  mov rdx, r11
   115  mov rcx, rdx
   118  and rcx, -0x4
   11c  sub rax, rcx
   11f  vmovups xmm1, xmmword ptr [rax + 0x20]
   124  vpmaskmovd xmm0, xmm1, xmmword ptr [r10]
   129  and edx, 0x3
   12c  je .L4
   132  vpandn xmm1, xmm1, xmmword ptr [rax + 0x1c]
   137  add r10, rcx
   13a  movzx eax, byte ptr [r10 + rdx - 0x1]
   140  lea ecx, [8*rdx - 0x8]
   147  shlx eax, eax, ecx
   14c  movzx ecx, byte ptr [r10]
   150  or ecx, eax
   152  shr edx
   154  movzx eax, byte ptr [r10 + rdx]
   159  shl edx, 0x3
   15c  shlx eax, eax, edx
   161  or ecx, eax
   163  vmovd xmm2, ecx
   167  vpbroadcastd xmm2, xmm2
   16c  vpand xmm2, xmm2, xmm1
   170  vpor xmm0, xmm0, xmm2
.L4:
        ; %1 = cast f64 %0
   174  vpmovzxbd xmm2, xmm0
   179  vcvtdq2pd ymm1, xmm2
        ; %2 = load f32 $2
   17d  lea rcx, [rip - 0x1c4]
   184  mov rdx, r11
   187  neg rdx
   18a  vmovups xmm2, xmmword ptr [rcx + 4*rdx + 0x20]
   190  vpmaskmovd xmm0, xmm2, xmmword ptr [rbp + 4*rsi]
        ; %3 = cast f64 %2
   197  vcvtps2pd ymm2, xmm0
        ; %4 = add f64 %1, %3
   19b  vaddpd ymm0, ymm1, ymm2
        ; %5 = cast f32 %4
   19f  vcvtpd2ps xmm1, ymm0
        ; store f32 $0 %5
   1a3  lea rcx, [rip - 0x1ea]
   1aa  mov rdx, r11
   1ad  neg rdx
   1b0  vmovups xmm0, xmmword ptr [rcx + 4*rdx + 0x20]
   1b6  vpmaskmovd xmmword ptr [r9 + 4*rsi], xmm0, xmm1
.L5:
        ; return
   1bc  vzeroupper
   1bf  mov rsp, qword ptr [rsp]
   1c3  pop rbp
   1c4  pop rbx
   1c5  ret
