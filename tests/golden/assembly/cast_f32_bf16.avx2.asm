        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
        ; %0 = constant u32 0x7fc0
    13  vpbroadcastd ymm0, dword ptr [rip - 0x20]
        ; %2 = constant u32 0x10
    1c  vpbroadcastd ymm1, dword ptr [rip - 0x2d]
        ; %3 = constant u32 0x1
    25  mov rcx, qword ptr [rdi]
    28  mov r9, qword ptr [rcx]
    2b  mov rbx, qword ptr [rcx + 0x8]
    2f  mov rax, qword ptr [rdi + 0x8]
    33  mov r8, qword ptr [rax]
        ; start of the innermost loop
    36  xor esi, esi
        ; vectors
    38  sub r8, 0x10
    3c  jb .L1
    42  nop word ptr [rax + rax]
    4b  nop word ptr [rax + rax]
    54  nop word ptr [rax + rax]
    5d  nop dword ptr [rax]
.L0:
        ; %4 = load f32 $1
    60  vmovups ymm2, ymmword ptr [rbx + 4*rsi]
        ; %5 = ne f32 %4, %4
    65  vcmpneqps ymm3, ymm2, ymm2
        ; %6 = bitcast u32 %4
    6a  vmovaps ymm4, ymm2
        ; %7 = add u32 %6, %1
    6e  vpbroadcastd ymm2, dword ptr [rip - 0x83]
    77  vpaddd ymm5, ymm4, ymm2
        ; %8 = bitwise_right_shift u32 %6, %2
    7b  vpsrlvd ymm2, ymm4, ymm1
        ; %9 = bitwise_and u32 %8, %3
    80  vpbroadcastd ymm4, dword ptr [rip - 0x99]
    89  vpand ymm6, ymm2, ymm4
        ; %10 = add u32 %7, %9
    8d  vpaddd ymm2, ymm5, ymm6
        ; %11 = bitwise_right_shift u32 %10, %2
    91  vpsrlvd ymm4, ymm2, ymm1
        ; %12 = where u32 %5, %0, %11
    96  vpblendvb ymm2, ymm4, ymm0, ymm3
        ; %13 = cast u16 %12
    9c  vpshufb ymm4, ymm2, ymmword ptr [rip - 0xe5]
    a5  vextracti128 xmm3, ymm4, 0x1
    ab  vpunpcklqdq xmm3, xmm4, xmm3
        ; %14 = bitcast bf16 %13
    af  vmovaps xmm2, xmm3
        ; store bf16 $0 %14
    b3  vmovups xmmword ptr [r9 + 2*rsi], xmm2
        ; %4 = load f32 $1
    b9  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x20]
        ; %5 = ne f32 %4, %4
    bf  vcmpneqps ymm3, ymm2, ymm2
        ; %6 = bitcast u32 %4
    c4  vmovaps ymm4, ymm2
        ; %7 = add u32 %6, %1
    c8  vpbroadcastd ymm2, dword ptr [rip - 0xdd]
    d1  vpaddd ymm5, ymm4, ymm2
        ; %8 = bitwise_right_shift u32 %6, %2
    d5  vpsrlvd ymm2, ymm4, ymm1
        ; %9 = bitwise_and u32 %8, %3
    da  vpbroadcastd ymm4, dword ptr [rip - 0xf3]
    e3  vpand ymm6, ymm2, ymm4
        ; %10 = add u32 %7, %9
    e7  vpaddd ymm2, ymm5, ymm6
        ; %11 = bitwise_right_shift u32 %10, %2
    eb  vpsrlvd ymm4, ymm2, ymm1
        ; %12 = where u32 %5, %0, %11
    f0  vpblendvb ymm2, ymm4, ymm0, ymm3
        ; %13 = cast u16 %12
    f6  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x13f]
    ff  vextracti128 xmm3, ymm4, 0x1
   105  vpunpcklqdq xmm3, xmm4, xmm3
        ; %14 = bitcast bf16 %13
   109  vmovaps xmm2, xmm3
        ; store bf16 $0 %14
   10d  vmovups xmmword ptr [r9 + 2*rsi + 0x10], xmm2
        ; addresses
   114  add rsi, 0x10
   118  sub r8, 0x10
   11c  jae .L0
.L1:
   122  add r8, 0x8
   126  js .L3
   12c  nop word ptr [rax + rax]
   135  nop word ptr [rax + rax]
   13e  nop
.L2:
        ; %4 = load f32 $1
   140  vmovups ymm2, ymmword ptr [rbx + 4*rsi]
        ; %5 = ne f32 %4, %4
   145  vcmpneqps ymm3, ymm2, ymm2
        ; %6 = bitcast u32 %4
   14a  vmovaps ymm4, ymm2
        ; %7 = add u32 %6, %1
   14e  vpbroadcastd ymm2, dword ptr [rip - 0x163]
   157  vpaddd ymm5, ymm4, ymm2
        ; %8 = bitwise_right_shift u32 %6, %2
   15b  vpsrlvd ymm2, ymm4, ymm1
        ; %9 = bitwise_and u32 %8, %3
   160  vpbroadcastd ymm4, dword ptr [rip - 0x179]
   169  vpand ymm6, ymm2, ymm4
        ; %10 = add u32 %7, %9
   16d  vpaddd ymm2, ymm5, ymm6
        ; %11 = bitwise_right_shift u32 %10, %2
   171  vpsrlvd ymm4, ymm2, ymm1
        ; %12 = where u32 %5, %0, %11
   176  vpblendvb ymm2, ymm4, ymm0, ymm3
        ; %13 = cast u16 %12
   17c  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x1c5]
   185  vextracti128 xmm3, ymm4, 0x1
   18b  vpunpcklqdq xmm3, xmm4, xmm3
        ; %14 = bitcast bf16 %13
   18f  vmovaps xmm2, xmm3
        ; store bf16 $0 %14
   193  vmovups xmmword ptr [r9 + 2*rsi], xmm2
        ; addresses
   199  add rsi, 0x8
   19d  sub r8, 0x8
   1a1  jae .L2
.L3:
   1a3  add r8, 0x8
   1a7  je .L7
        ; tail
   1ad  mov r11d, 0x8
   1b3  cmp r8, r11
   1b6  cmovb r11, r8
        ; %4 = load f32 $1
   1ba  lea rcx, [rip - 0x241]
   1c1  mov rdx, r11
   1c4  neg rdx
   1c7  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   1cd  vpmaskmovd ymm2, ymm3, ymmword ptr [rbx + 4*rsi]
        ; %5 = ne f32 %4, %4
   1d3  vcmpneqps ymm3, ymm2, ymm2
        ; %6 = bitcast u32 %4
   1d8  vmovaps ymm4, ymm2
        ; %7 = add u32 %6, %1
   1dc  vpbroadcastd ymm2, dword ptr [rip - 0x1f1]
   1e5  vpaddd ymm5, ymm4, ymm2
        ; %8 = bitwise_right_shift u32 %6, %2
   1e9  vpsrlvd ymm2, ymm4, ymm1
        ; %9 = bitwise_and u32 %8, %3
   1ee  vpbroadcastd ymm4, dword ptr [rip - 0x207]
   1f7  vpand ymm6, ymm2, ymm4
        ; %10 = add u32 %7, %9
   1fb  vpaddd ymm2, ymm5, ymm6
        ; %11 = bitwise_right_shift u32 %10, %2
   1ff  vpsrlvd ymm4, ymm2, ymm1
        ; %12 = where u32 %5, %0, %11
   204  vpblendvb ymm2, ymm4, ymm0, ymm3
        ; %13 = cast u16 %12
   20a  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x253]
   213  vextracti128 xmm3, ymm4, 0x1
   219  vpunpcklqdq xmm3, xmm4, xmm3
        ; %14 = bitcast bf16 %13
   21d  vmovaps xmm2, xmm3
        ; store bf16 $0 %14
   221  vmovups xmmword ptr [rsp + 0x40], xmm2
   227  lea rdx, [r9 + 2*rsi]
   22b  lea rax, [rsp + 0x40]
   230  xor ecx, ecx
   232  test r11d, 0x8
   239  je .L4
   23f  vmovups xmm3, xmmword ptr [rax + rcx]
   244  vmovups xmmword ptr [rdx + rcx], xmm3
   249  add rcx, 0x10
.L4:
   24d  test r11d, 0x4
   254  je .L5
   25a  mov r10, qword ptr [rax + rcx]
   25e  mov qword ptr [rdx + rcx], r10
   262  add rcx, 0x8
.L5:
   266  test r11d, 0x2
   26d  je .L6
   273  mov r10d, dword ptr [rax + rcx]
   277  mov dword ptr [rdx + rcx], r10d
   27b  add rcx, 0x4
.L6:
   27f  test r11d, 0x1
   286  je .L7
   28c  mov r10w, word ptr [rax + rcx]
   291  mov word ptr [rdx + rcx], r10w
   296  add rcx, 0x2
.L7:
        ; return
   29a  vzeroupper
   29d  mov rsp, qword ptr [rsp]
   2a1  pop rbx
   2a2  ret
