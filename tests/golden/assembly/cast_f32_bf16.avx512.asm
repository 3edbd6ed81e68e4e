        ; %0 = constant u32 0x7fc0
     0  vpbroadcastd zmm16, dword ptr [rip - 0xe]
        ; %1 = constant u32 0x7fff
     a  vpbroadcastd zmm17, dword ptr [rip - 0x1c]
        ; %2 = constant u32 0x10
    14  vpbroadcastd zmm18, dword ptr [rip - 0x2a]
        ; %3 = constant u32 0x1
    1e  vpbroadcastd zmm19, dword ptr [rip - 0x38]
    28  mov rcx, qword ptr [rdi]
    2b  mov rdx, qword ptr [rcx]
    2e  mov r9, qword ptr [rcx + 0x8]
    32  mov rax, qword ptr [rdi + 0x8]
    36  mov r8, qword ptr [rax]
        ; start of the innermost loop
    39  xor esi, esi
        ; vectors
    3b  sub r8, 0x40
    3f  jb .L1
    45  nop word ptr [rax + rax]
    4e  nop word ptr [rax + rax]
    57  nop word ptr [rax + rax]
.L0:
        ; %4 = load f32 $1
    60  vmovups zmm20, zmmword ptr [r9 + 4*rsi]
    67  vmovups zmm21, zmmword ptr [r9 + 4*rsi + 0x40]
    6f  vmovups zmm22, zmmword ptr [r9 + 4*rsi + 0x80]
    77  vmovups zmm23, zmmword ptr [r9 + 4*rsi + 0xc0]
        ; %5 = ne f32 %4, %4
    7f  vcmpneqps k2, zmm20, zmm20
    86  vcmpneqps k3, zmm21, zmm21
    8d  vcmpneqps k4, zmm22, zmm22
    94  vcmpneqps k5, zmm23, zmm23
        ; %6 = bitcast u32 %4
    9b  vmovaps zmm24, zmm20
    a1  vmovaps zmm20, zmm21
    a7  vmovaps zmm21, zmm22
    ad  vmovaps zmm22, zmm23
        ; %7 = add u32 %6, %1
    b3  vpaddd zmm23, zmm24, zmm17
    b9  vpaddd zmm25, zmm20, zmm17
    bf  vpaddd zmm26, zmm21, zmm17
    c5  vpaddd zmm27, zmm22, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
    cb  vpsrlvd zmm28, zmm24, zmm18
    d1  vpsrlvd zmm24, zmm20, zmm18
    d7  vpsrlvd zmm20, zmm21, zmm18
    dd  vpsrlvd zmm21, zmm22, zmm18
        ; %9 = bitwise_and u32 %8, %3
    e3  vpandq zmm22, zmm28, zmm19
    e9  vpandq zmm28, zmm24, zmm19
    ef  vpandq zmm24, zmm20, zmm19
    f5  vpandq zmm20, zmm21, zmm19
        ; %10 = add u32 %7, %9
    fb  vpaddd zmm21, zmm23, zmm22
   101  vpaddd zmm22, zmm25, zmm28
   107  vpaddd zmm23, zmm26, zmm24
   10d  vpaddd zmm24, zmm27, zmm20
        ; %11 = bitwise_right_shift u32 %10, %2
   113  vpsrlvd zmm20, zmm21, zmm18
   119  vpsrlvd zmm21, zmm22, zmm18
   11f  vpsrlvd zmm22, zmm23, zmm18
   125  vpsrlvd zmm23, zmm24, zmm18
        ; %12 = where u32 %5, %0, %11
   12b  vpblendmd zmm24 {k2}, zmm20, zmm16
   131  vpblendmd zmm20 {k3}, zmm21, zmm16
   137  vpblendmd zmm21 {k4}, zmm22, zmm16
   13d  vpblendmd zmm22 {k5}, zmm23, zmm16
        ; %13 = cast u16 %12
   143  vpmovdw ymm23, zmm24
   149  vpmovdw ymm24, zmm20
   14f  vpmovdw ymm20, zmm21
   155  vpmovdw ymm21, zmm22
        ; %14 = bitcast bf16 %13
   15b  vmovaps ymm22, ymm23
   161  vmovaps ymm23, ymm24
   167  vmovaps ymm24, ymm20
   16d  vmovaps ymm20, ymm21
        ; store bf16 $0 %14
   173  vmovups ymmword ptr [rdx + 2*rsi], ymm22
   17a  vmovups ymmword ptr [rdx + 2*rsi + 0x20], ymm23
   182  vmovups ymmword ptr [rdx + 2*rsi + 0x40], ymm24
   18a  vmovups ymmword ptr [rdx + 2*rsi + 0x60], ymm20
        ; addresses
   192  add rsi, 0x40
   196  sub r8, 0x40
   19a  jae .L0
.L1:
   1a0  add r8, 0x30
   1a4  js .L3
   1aa  nop word ptr [rax + rax]
   1b3  nop word ptr [rax + rax]
   1bc  nop dword ptr [rax]
.L2:
        ; %4 = load f32 $1
   1c0  vmovups zmm20, zmmword ptr [r9 + 4*rsi]
        ; %5 = ne f32 %4, %4
   1c7  vcmpneqps k2, zmm20, zmm20
        ; %6 = bitcast u32 %4
   1ce  vmovaps zmm21, zmm20
        ; %7 = add u32 %6, %1
   1d4  vpaddd zmm20, zmm21, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
   1da  vpsrlvd zmm22, zmm21, zmm18
        ; %9 = bitwise_and u32 %8, %3
   1e0  vpandq zmm21, zmm22, zmm19
        ; %10 = add u32 %7, %9
   1e6  vpaddd zmm22, zmm20, zmm21
        ; %11 = bitwise_right_shift u32 %10, %2
   1ec  vpsrlvd zmm20, zmm22, zmm18
        ; %12 = where u32 %5, %0, %11
   1f2  vpblendmd zmm21 {k2}, zmm20, zmm16
        ; %13 = cast u16 %12
   1f8  vpmovdw ymm20, zmm21
        ; %14 = bitcast bf16 %13
   1fe  vmovaps ymm21, ymm20
        ; store bf16 $0 %14
   204  vmovups ymmword ptr [rdx + 2*rsi], ymm21
        ; addresses
   20b  add rsi, 0x10
   20f  sub r8, 0x10
   213  jae .L2
.L3:
   215  add r8, 0x10
   219  je .L4
        ; tail
   21f  mov eax, 0xffffffff
   224  bzhi eax, eax, r8d
   229  kmovd k1, eax
        ; %4 = load f32 $1
   22d  vmovdqu32 zmm20 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %5 = ne f32 %4, %4
   234  vcmpneqps k2, zmm20, zmm20
        ; %6 = bitcast u32 %4
   23b  vmovaps zmm21, zmm20
        ; %7 = add u32 %6, %1
   241  vpaddd zmm20, zmm21, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
   247  vpsrlvd zmm22, zmm21, zmm18
        ; %9 = bitwise_and u32 %8, %3
   24d  vpandq zmm21, zmm22, zmm19
        ; %10 = add u32 %7, %9
   253  vpaddd zmm22, zmm20, zmm21
        ; %11 = bitwise_right_shift u32 %10, %2
   259  vpsrlvd zmm20, zmm22, zmm18
        ; %12 = where u32 %5, %0, %11
   25f  vpblendmd zmm21 {k2}, zmm20, zmm16
        ; %13 = cast u16 %12
   265  vpmovdw ymm20, zmm21
        ; %14 = bitcast bf16 %13
   26b  vmovaps ymm21, ymm20
        ; store bf16 $0 %14
   271  vmovdqu16 ymmword ptr [rdx + 2*rsi] {k1}, ymm21
.L4:
        ; return
   278  ret
