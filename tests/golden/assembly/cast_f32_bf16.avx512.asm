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
    3b  sub r8, 0x20
    3f  jb .L1
    45  nop word ptr [rax + rax]
    4e  nop word ptr [rax + rax]
    57  nop word ptr [rax + rax]
.L0:
        ; %4 = load f32 $1
    60  vmovups zmm20, zmmword ptr [r9 + 4*rsi]
    67  vmovups zmm21, zmmword ptr [r9 + 4*rsi + 0x40]
        ; %5 = ne f32 %4, %4
    6f  vcmpneqps k2, zmm20, zmm20
    76  vcmpneqps k3, zmm21, zmm21
        ; %6 = bitcast u32 %4
    7d  vmovaps zmm22, zmm20
    83  vmovaps zmm20, zmm21
        ; %7 = add u32 %6, %1
    89  vpaddd zmm21, zmm22, zmm17
    8f  vpaddd zmm23, zmm20, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
    95  vpsrlvd zmm24, zmm22, zmm18
    9b  vpsrlvd zmm22, zmm20, zmm18
        ; %9 = bitwise_and u32 %8, %3
    a1  vpandq zmm20, zmm24, zmm19
    a7  vpandq zmm24, zmm22, zmm19
        ; %10 = add u32 %7, %9
    ad  vpaddd zmm22, zmm21, zmm20
    b3  vpaddd zmm20, zmm23, zmm24
        ; %11 = bitwise_right_shift u32 %10, %2
    b9  vpsrlvd zmm21, zmm22, zmm18
    bf  vpsrlvd zmm22, zmm20, zmm18
        ; %12 = where u32 %5, %0, %11
    c5  vpblendmd zmm20 {k2}, zmm21, zmm16
    cb  vpblendmd zmm21 {k3}, zmm22, zmm16
        ; %13 = cast u16 %12
    d1  vpmovdw ymm22, zmm20
    d7  vpmovdw ymm20, zmm21
        ; %14 = bitcast bf16 %13
    dd  vmovaps ymm21, ymm22
    e3  vmovaps ymm22, ymm20
        ; store bf16 $0 %14
    e9  vmovups ymmword ptr [rdx + 2*rsi], ymm21
    f0  vmovups ymmword ptr [rdx + 2*rsi + 0x20], ymm22
        ; addresses
    f8  add rsi, 0x20
    fc  sub r8, 0x20
   100  jae .L0
.L1:
   106  add r8, 0x10
   10a  js .L3
   110  nop word ptr [rax + rax]
   119  nop dword ptr [rax]
.L2:
        ; %4 = load f32 $1
   120  vmovups zmm20, zmmword ptr [r9 + 4*rsi]
        ; %5 = ne f32 %4, %4
   127  vcmpneqps k2, zmm20, zmm20
        ; %6 = bitcast u32 %4
   12e  vmovaps zmm21, zmm20
        ; %7 = add u32 %6, %1
   134  vpaddd zmm20, zmm21, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
   13a  vpsrlvd zmm22, zmm21, zmm18
        ; %9 = bitwise_and u32 %8, %3
   140  vpandq zmm21, zmm22, zmm19
        ; %10 = add u32 %7, %9
   146  vpaddd zmm22, zmm20, zmm21
        ; %11 = bitwise_right_shift u32 %10, %2
   14c  vpsrlvd zmm20, zmm22, zmm18
        ; %12 = where u32 %5, %0, %11
   152  vpblendmd zmm21 {k2}, zmm20, zmm16
        ; %13 = cast u16 %12
   158  vpmovdw ymm20, zmm21
        ; %14 = bitcast bf16 %13
   15e  vmovaps ymm21, ymm20
        ; store bf16 $0 %14
   164  vmovups ymmword ptr [rdx + 2*rsi], ymm21
        ; addresses
   16b  add rsi, 0x10
   16f  sub r8, 0x10
   173  jae .L2
.L3:
   175  add r8, 0x10
   179  je .L4
        ; tail
   17f  mov eax, 0xffffffff
   184  bzhi eax, eax, r8d
   189  kmovd k1, eax
        ; %4 = load f32 $1
   18d  vmovdqu32 zmm20 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %5 = ne f32 %4, %4
   194  vcmpneqps k2, zmm20, zmm20
        ; %6 = bitcast u32 %4
   19b  vmovaps zmm21, zmm20
        ; %7 = add u32 %6, %1
   1a1  vpaddd zmm20, zmm21, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
   1a7  vpsrlvd zmm22, zmm21, zmm18
        ; %9 = bitwise_and u32 %8, %3
   1ad  vpandq zmm21, zmm22, zmm19
        ; %10 = add u32 %7, %9
   1b3  vpaddd zmm22, zmm20, zmm21
        ; %11 = bitwise_right_shift u32 %10, %2
   1b9  vpsrlvd zmm20, zmm22, zmm18
        ; %12 = where u32 %5, %0, %11
   1bf  vpblendmd zmm21 {k2}, zmm20, zmm16
        ; %13 = cast u16 %12
   1c5  vpmovdw ymm20, zmm21
        ; %14 = bitcast bf16 %13
   1cb  vmovaps ymm21, ymm20
        ; store bf16 $0 %14
   1d1  vmovdqu16 ymmword ptr [rdx + 2*rsi] {k1}, ymm21
.L4:
        ; return
   1d8  ret
