        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
        ; %3 = constant u32 0x1
    13  mov rcx, qword ptr [rdi]
    16  mov r9, qword ptr [rcx]
    19  mov rbx, qword ptr [rcx + 0x8]
    1d  mov rax, qword ptr [rdi + 0x8]
    21  mov r8, qword ptr [rax]
        ; start of the innermost loop
    24  xor esi, esi
        ; vectors
    26  sub r8, 0x10
    2a  jb .L1
    30  nop word ptr [rax + rax]
    39  nop dword ptr [rax]
.L0:
        ; %4 = load f32 $1
    40  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
    45  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
        ; %5 = ne f32 %4, %4
    4b  vcmpneqps ymm2, ymm0, ymm0
    50  vcmpneqps ymm3, ymm1, ymm1
        ; %7 = add u32 %6, %1
    55  vpbroadcastd ymm4, dword ptr [rip - 0x62]
    5e  vpaddd ymm5, ymm0, ymm4
    62  vpaddd ymm6, ymm1, ymm4
        ; %8 = bitwise_right_shift u32 %6, %2
    66  vpsrld ymm4, ymm0, 0x10
    6b  vpsrld ymm0, ymm1, 0x10
        ; %9 = bitwise_and u32 %8, %3
    70  vpbroadcastd ymm1, dword ptr [rip - 0x81]
    79  vpand ymm7, ymm4, ymm1
    7d  vpand ymm4, ymm0, ymm1
        ; %10 = add u32 %7, %9
    81  vpaddd ymm0, ymm5, ymm7
    85  vpaddd ymm1, ymm6, ymm4
        ; %11 = where u32 %5, %0, %10
    89  vpbroadcastd ymm4, dword ptr [rip - 0x9e]
    92  vpblendvb ymm5, ymm0, ymm4, ymm2
    98  vpblendvb ymm0, ymm1, ymm4, ymm3
        ; %12 = bitwise_right_shift u32 %11, %2
    9e  vpsrld ymm1, ymm5, 0x10
    a3  vpsrld ymm2, ymm0, 0x10
        ; %13 = cast u16 %12
    a8  vpshufb ymm3, ymm1, ymmword ptr [rip - 0xf1]
    b1  vextracti128 xmm0, ymm3, 0x1
    b7  vpunpcklqdq xmm0, xmm3, xmm0
    bb  vpshufb ymm3, ymm2, ymmword ptr [rip - 0x104]
    c4  vextracti128 xmm1, ymm3, 0x1
    ca  vpunpcklqdq xmm1, xmm3, xmm1
        ; store bf16 $0 %14
    ce  vmovups xmmword ptr [r9 + 2*rsi], xmm0
    d4  vmovups xmmword ptr [r9 + 2*rsi + 0x10], xmm1
        ; addresses
    db  add rsi, 0x10
    df  sub r8, 0x10
    e3  jae .L0
.L1:
    e9  add r8, 0x8
    ed  js .L3
    f3  nop word ptr [rax + rax]
    fc  nop dword ptr [rax]
.L2:
        ; %4 = load f32 $1
   100  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
        ; %5 = ne f32 %4, %4
   105  vcmpneqps ymm1, ymm0, ymm0
        ; %7 = add u32 %6, %1
   10a  vpbroadcastd ymm2, dword ptr [rip - 0x117]
   113  vpaddd ymm3, ymm0, ymm2
        ; %8 = bitwise_right_shift u32 %6, %2
   117  vpsrld ymm2, ymm0, 0x10
        ; %9 = bitwise_and u32 %8, %3
   11c  vpbroadcastd ymm0, dword ptr [rip - 0x12d]
   125  vpand ymm4, ymm2, ymm0
        ; %10 = add u32 %7, %9
   129  vpaddd ymm0, ymm3, ymm4
        ; %11 = where u32 %5, %0, %10
   12d  vpbroadcastd ymm2, dword ptr [rip - 0x142]
   136  vpblendvb ymm3, ymm0, ymm2, ymm1
        ; %12 = bitwise_right_shift u32 %11, %2
   13c  vpsrld ymm0, ymm3, 0x10
        ; %13 = cast u16 %12
   141  vpshufb ymm2, ymm0, ymmword ptr [rip - 0x18a]
   14a  vextracti128 xmm1, ymm2, 0x1
   150  vpunpcklqdq xmm1, xmm2, xmm1
        ; store bf16 $0 %14
   154  vmovups xmmword ptr [r9 + 2*rsi], xmm1
        ; addresses
   15a  add rsi, 0x8
   15e  sub r8, 0x8
   162  jae .L2
.L3:
   164  add r8, 0x8
   168  je .L7
        ; tail
   16e  mov r11d, 0x8
   174  cmp r8, r11
   177  cmovb r11, r8
        ; %4 = load f32 $1
   17b  lea rcx, [rip - 0x202]
   182  mov rdx, r11
   185  neg rdx
   188  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   18e  vpmaskmovd ymm0, ymm1, ymmword ptr [rbx + 4*rsi]
        ; %5 = ne f32 %4, %4
   194  vcmpneqps ymm1, ymm0, ymm0
        ; %7 = add u32 %6, %1
   199  vpbroadcastd ymm2, dword ptr [rip - 0x1a6]
   1a2  vpaddd ymm3, ymm0, ymm2
        ; %8 = bitwise_right_shift u32 %6, %2
   1a6  vpsrld ymm2, ymm0, 0x10
        ; %9 = bitwise_and u32 %8, %3
   1ab  vpbroadcastd ymm0, dword ptr [rip - 0x1bc]
   1b4  vpand ymm4, ymm2, ymm0
        ; %10 = add u32 %7, %9
   1b8  vpaddd ymm0, ymm3, ymm4
        ; %11 = where u32 %5, %0, %10
   1bc  vpbroadcastd ymm2, dword ptr [rip - 0x1d1]
   1c5  vpblendvb ymm3, ymm0, ymm2, ymm1
        ; %12 = bitwise_right_shift u32 %11, %2
   1cb  vpsrld ymm0, ymm3, 0x10
        ; %13 = cast u16 %12
   1d0  vpshufb ymm2, ymm0, ymmword ptr [rip - 0x219]
   1d9  vextracti128 xmm1, ymm2, 0x1
   1df  vpunpcklqdq xmm1, xmm2, xmm1
        ; store bf16 $0 %14
   1e3  vmovups xmmword ptr [rsp + 0x40], xmm1
   1e9  lea rdx, [r9 + 2*rsi]
   1ed  lea rax, [rsp + 0x40]
   1f2  xor ecx, ecx
   1f4  test r11d, 0x8
   1fb  je .L4
   201  vmovups xmm0, xmmword ptr [rax + rcx]
   206  vmovups xmmword ptr [rdx + rcx], xmm0
   20b  add rcx, 0x10
.L4:
   20f  test r11d, 0x4
   216  je .L5
   21c  mov r10, qword ptr [rax + rcx]
   220  mov qword ptr [rdx + rcx], r10
   224  add rcx, 0x8
.L5:
   228  test r11d, 0x2
   22f  je .L6
   235  mov r10d, dword ptr [rax + rcx]
   239  mov dword ptr [rdx + rcx], r10d
   23d  add rcx, 0x4
.L6:
   241  test r11d, 0x1
   248  je .L7
   24e  mov r10w, word ptr [rax + rcx]
   253  mov word ptr [rdx + rcx], r10w
   258  add rcx, 0x2
.L7:
        ; return
   25c  vzeroupper
   25f  mov rsp, qword ptr [rsp]
   263  pop rbx
   264  ret
