        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
        ; %0 = constant u32 0x7fc00000
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
        ; %7 = add u32 %6, %1
    6a  vpbroadcastd ymm4, dword ptr [rip - 0x7f]
    73  vpaddd ymm5, ymm2, ymm4
        ; %8 = bitwise_right_shift u32 %6, %2
    77  vpsrlvd ymm4, ymm2, ymm1
        ; %9 = bitwise_and u32 %8, %3
    7c  vpbroadcastd ymm2, dword ptr [rip - 0x95]
    85  vpand ymm6, ymm4, ymm2
        ; %10 = add u32 %7, %9
    89  vpaddd ymm2, ymm5, ymm6
        ; %11 = where u32 %5, %0, %10
    8d  vpblendvb ymm4, ymm2, ymm0, ymm3
        ; %12 = bitwise_right_shift u32 %11, %2
    93  vpsrlvd ymm2, ymm4, ymm1
        ; %13 = cast u16 %12
    98  vpshufb ymm4, ymm2, ymmword ptr [rip - 0xe1]
    a1  vextracti128 xmm3, ymm4, 0x1
    a7  vpunpcklqdq xmm3, xmm4, xmm3
        ; store bf16 $0 %14
    ab  vmovups xmmword ptr [r9 + 2*rsi], xmm3
        ; %4 = load f32 $1
    b1  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x20]
        ; %5 = ne f32 %4, %4
    b7  vcmpneqps ymm3, ymm2, ymm2
        ; %7 = add u32 %6, %1
    bc  vpbroadcastd ymm4, dword ptr [rip - 0xd1]
    c5  vpaddd ymm5, ymm2, ymm4
        ; %8 = bitwise_right_shift u32 %6, %2
    c9  vpsrlvd ymm4, ymm2, ymm1
        ; %9 = bitwise_and u32 %8, %3
    ce  vpbroadcastd ymm2, dword ptr [rip - 0xe7]
    d7  vpand ymm6, ymm4, ymm2
        ; %10 = add u32 %7, %9
    db  vpaddd ymm2, ymm5, ymm6
        ; %11 = where u32 %5, %0, %10
    df  vpblendvb ymm4, ymm2, ymm0, ymm3
        ; %12 = bitwise_right_shift u32 %11, %2
    e5  vpsrlvd ymm2, ymm4, ymm1
        ; %13 = cast u16 %12
    ea  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x133]
    f3  vextracti128 xmm3, ymm4, 0x1
    f9  vpunpcklqdq xmm3, xmm4, xmm3
        ; store bf16 $0 %14
    fd  vmovups xmmword ptr [r9 + 2*rsi + 0x10], xmm3
        ; addresses
   104  add rsi, 0x10
   108  sub r8, 0x10
   10c  jae .L0
.L1:
   112  add r8, 0x8
   116  js .L3
   11c  nop dword ptr [rax]
.L2:
        ; %4 = load f32 $1
   120  vmovups ymm2, ymmword ptr [rbx + 4*rsi]
        ; %5 = ne f32 %4, %4
   125  vcmpneqps ymm3, ymm2, ymm2
        ; %7 = add u32 %6, %1
   12a  vpbroadcastd ymm4, dword ptr [rip - 0x13f]
   133  vpaddd ymm5, ymm2, ymm4
        ; %8 = bitwise_right_shift u32 %6, %2
   137  vpsrlvd ymm4, ymm2, ymm1
        ; %9 = bitwise_and u32 %8, %3
   13c  vpbroadcastd ymm2, dword ptr [rip - 0x155]
   145  vpand ymm6, ymm4, ymm2
        ; %10 = add u32 %7, %9
   149  vpaddd ymm2, ymm5, ymm6
        ; %11 = where u32 %5, %0, %10
   14d  vpblendvb ymm4, ymm2, ymm0, ymm3
        ; %12 = bitwise_right_shift u32 %11, %2
   153  vpsrlvd ymm2, ymm4, ymm1
        ; %13 = cast u16 %12
   158  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x1a1]
   161  vextracti128 xmm3, ymm4, 0x1
   167  vpunpcklqdq xmm3, xmm4, xmm3
        ; store bf16 $0 %14
   16b  vmovups xmmword ptr [r9 + 2*rsi], xmm3
        ; addresses
   171  add rsi, 0x8
   175  sub r8, 0x8
   179  jae .L2
.L3:
   17b  add r8, 0x8
   17f  je .L7
        ; tail
   185  mov r11d, 0x8
   18b  cmp r8, r11
   18e  cmovb r11, r8
        ; %4 = load f32 $1
   192  lea rcx, [rip - 0x219]
   199  mov rdx, r11
   19c  neg rdx
   19f  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   1a5  vpmaskmovd ymm2, ymm3, ymmword ptr [rbx + 4*rsi]
        ; %5 = ne f32 %4, %4
   1ab  vcmpneqps ymm3, ymm2, ymm2
        ; %7 = add u32 %6, %1
   1b0  vpbroadcastd ymm4, dword ptr [rip - 0x1c5]
   1b9  vpaddd ymm5, ymm2, ymm4
        ; %8 = bitwise_right_shift u32 %6, %2
   1bd  vpsrlvd ymm4, ymm2, ymm1
        ; %9 = bitwise_and u32 %8, %3
   1c2  vpbroadcastd ymm2, dword ptr [rip - 0x1db]
   1cb  vpand ymm6, ymm4, ymm2
        ; %10 = add u32 %7, %9
   1cf  vpaddd ymm2, ymm5, ymm6
        ; %11 = where u32 %5, %0, %10
   1d3  vpblendvb ymm4, ymm2, ymm0, ymm3
        ; %12 = bitwise_right_shift u32 %11, %2
   1d9  vpsrlvd ymm2, ymm4, ymm1
        ; %13 = cast u16 %12
   1de  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x227]
   1e7  vextracti128 xmm3, ymm4, 0x1
   1ed  vpunpcklqdq xmm3, xmm4, xmm3
        ; store bf16 $0 %14
   1f1  vmovups xmmword ptr [rsp + 0x40], xmm3
   1f7  lea rdx, [r9 + 2*rsi]
   1fb  lea rax, [rsp + 0x40]
   200  xor ecx, ecx
   202  test r11d, 0x8
   209  je .L4
   20f  vmovups xmm2, xmmword ptr [rax + rcx]
   214  vmovups xmmword ptr [rdx + rcx], xmm2
   219  add rcx, 0x10
.L4:
   21d  test r11d, 0x4
   224  je .L5
   22a  mov r10, qword ptr [rax + rcx]
   22e  mov qword ptr [rdx + rcx], r10
   232  add rcx, 0x8
.L5:
   236  test r11d, 0x2
   23d  je .L6
   243  mov r10d, dword ptr [rax + rcx]
   247  mov dword ptr [rdx + rcx], r10d
   24b  add rcx, 0x4
.L6:
   24f  test r11d, 0x1
   256  je .L7
   25c  mov r10w, word ptr [rax + rcx]
   261  mov word ptr [rdx + rcx], r10w
   266  add rcx, 0x2
.L7:
        ; return
   26a  vzeroupper
   26d  mov rsp, qword ptr [rsp]
   271  pop rbx
   272  ret
