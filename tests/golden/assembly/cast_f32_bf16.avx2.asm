        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
        ; %0 = constant u32 0x7fc00000
    13  vpbroadcastd ymm0, dword ptr [rip - 0x20]
        ; %1 = constant u32 0x7fff
    1c  vpbroadcastd ymm1, dword ptr [rip - 0x2d]
        ; %2 = constant u32 0x10
    25  vpbroadcastd ymm2, dword ptr [rip - 0x3a]
        ; %3 = constant u32 0x1
    2e  vpbroadcastd ymm3, dword ptr [rip - 0x47]
    37  mov rcx, qword ptr [rdi]
    3a  mov r9, qword ptr [rcx]
    3d  mov rbx, qword ptr [rcx + 0x8]
    41  mov rax, qword ptr [rdi + 0x8]
    45  mov r8, qword ptr [rax]
        ; start of the innermost loop
    48  xor esi, esi
        ; vectors
    4a  sub r8, 0x10
    4e  jb .L1
    54  nop word ptr [rax + rax]
    5d  nop dword ptr [rax]
.L0:
        ; %4 = load f32 $1
    60  vmovups ymm4, ymmword ptr [rbx + 4*rsi]
    65  vmovups ymm5, ymmword ptr [rbx + 4*rsi + 0x20]
        ; %5 = ne f32 %4, %4
    6b  vcmpneqps ymm6, ymm4, ymm4
    70  vcmpneqps ymm7, ymm5, ymm5
        ; %7 = add u32 %6, %1
    75  vpaddd ymm8, ymm4, ymm1
    79  vpaddd ymm9, ymm5, ymm1
        ; %8 = bitwise_right_shift u32 %6, %2
    7d  vpsrld ymm10, ymm4, 0x10
    82  vpsrld ymm4, ymm5, 0x10
        ; %9 = bitwise_and u32 %8, %3
    87  vpand ymm5, ymm10, ymm3
    8b  vpand ymm10, ymm4, ymm3
        ; %10 = add u32 %7, %9
    8f  vpaddd ymm4, ymm8, ymm5
    93  vpaddd ymm5, ymm9, ymm10
        ; %11 = where u32 %5, %0, %10
    98  vpblendvb ymm8, ymm4, ymm0, ymm6
    9e  vpblendvb ymm4, ymm5, ymm0, ymm7
        ; %13 = cast u16 %12
    a4  vpshufb ymm6, ymm8, ymmword ptr [rip - 0xed]
    ad  vextracti128 xmm5, ymm6, 0x1
    b3  vpunpcklqdq xmm5, xmm6, xmm5
    b7  vpshufb ymm7, ymm4, ymmword ptr [rip - 0x100]
    c0  vextracti128 xmm6, ymm7, 0x1
    c6  vpunpcklqdq xmm6, xmm7, xmm6
        ; store bf16 $0 %14
    ca  vmovups xmmword ptr [r9 + 2*rsi], xmm5
    d0  vmovups xmmword ptr [r9 + 2*rsi + 0x10], xmm6
        ; addresses
    d7  add rsi, 0x10
    db  sub r8, 0x10
    df  jae .L0
.L1:
    e5  add r8, 0x8
    e9  js .L3
    ef  nop word ptr [rax + rax]
    f8  nop dword ptr [rax + rax]
.L2:
        ; %4 = load f32 $1
   100  vmovups ymm4, ymmword ptr [rbx + 4*rsi]
        ; %5 = ne f32 %4, %4
   105  vcmpneqps ymm5, ymm4, ymm4
        ; %7 = add u32 %6, %1
   10a  vpaddd ymm6, ymm4, ymm1
        ; %8 = bitwise_right_shift u32 %6, %2
   10e  vpsrld ymm7, ymm4, 0x10
        ; %9 = bitwise_and u32 %8, %3
   113  vpand ymm4, ymm7, ymm3
        ; %10 = add u32 %7, %9
   117  vpaddd ymm7, ymm6, ymm4
        ; %11 = where u32 %5, %0, %10
   11b  vpblendvb ymm4, ymm7, ymm0, ymm5
        ; %13 = cast u16 %12
   121  vpshufb ymm6, ymm4, ymmword ptr [rip - 0x16a]
   12a  vextracti128 xmm5, ymm6, 0x1
   130  vpunpcklqdq xmm5, xmm6, xmm5
        ; store bf16 $0 %14
   134  vmovups xmmword ptr [r9 + 2*rsi], xmm5
        ; addresses
   13a  add rsi, 0x8
   13e  sub r8, 0x8
   142  jae .L2
.L3:
   144  add r8, 0x8
   148  je .L7
        ; tail
   14e  mov r11d, 0x8
   154  cmp r8, r11
   157  cmovb r11, r8
        ; %4 = load f32 $1
   15b  lea rcx, [rip - 0x1e2]
   162  mov rdx, r11
   165  neg rdx
   168  vmovups ymm5, ymmword ptr [rcx + 4*rdx + 0x20]
   16e  vpmaskmovd ymm4, ymm5, ymmword ptr [rbx + 4*rsi]
        ; %5 = ne f32 %4, %4
   174  vcmpneqps ymm5, ymm4, ymm4
        ; %7 = add u32 %6, %1
   179  vpaddd ymm6, ymm4, ymm1
        ; %8 = bitwise_right_shift u32 %6, %2
   17d  vpsrld ymm7, ymm4, 0x10
        ; %9 = bitwise_and u32 %8, %3
   182  vpand ymm4, ymm7, ymm3
        ; %10 = add u32 %7, %9
   186  vpaddd ymm7, ymm6, ymm4
        ; %11 = where u32 %5, %0, %10
   18a  vpblendvb ymm4, ymm7, ymm0, ymm5
        ; %13 = cast u16 %12
   190  vpshufb ymm6, ymm4, ymmword ptr [rip - 0x1d9]
   199  vextracti128 xmm5, ymm6, 0x1
   19f  vpunpcklqdq xmm5, xmm6, xmm5
        ; store bf16 $0 %14
   1a3  vmovups xmmword ptr [rsp + 0x40], xmm5
   1a9  lea rdx, [r9 + 2*rsi]
   1ad  lea rax, [rsp + 0x40]
   1b2  xor ecx, ecx
   1b4  test r11d, 0x8
   1bb  je .L4
   1c1  vmovups xmm4, xmmword ptr [rax + rcx]
   1c6  vmovups xmmword ptr [rdx + rcx], xmm4
   1cb  add rcx, 0x10
.L4:
   1cf  test r11d, 0x4
   1d6  je .L5
   1dc  mov r10, qword ptr [rax + rcx]
   1e0  mov qword ptr [rdx + rcx], r10
   1e4  add rcx, 0x8
.L5:
   1e8  test r11d, 0x2
   1ef  je .L6
   1f5  mov r10d, dword ptr [rax + rcx]
   1f9  mov dword ptr [rdx + rcx], r10d
   1fd  add rcx, 0x4
.L6:
   201  test r11d, 0x1
   208  je .L7
   20e  mov r10w, word ptr [rax + rcx]
   213  mov word ptr [rdx + rcx], r10w
   218  add rcx, 0x2
.L7:
        ; return
   21c  vzeroupper
   21f  mov rsp, qword ptr [rsp]
   223  pop rbx
   224  ret
