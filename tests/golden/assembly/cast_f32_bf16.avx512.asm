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
        ; %7 = add u32 %6, %1
    7d  vpaddd zmm22, zmm20, zmm17
    83  vpaddd zmm23, zmm21, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
    89  vpsrlvd zmm24, zmm20, zmm18
    8f  vpsrlvd zmm20, zmm21, zmm18
        ; %9 = bitwise_and u32 %8, %3
    95  vpandq zmm21, zmm24, zmm19
    9b  vpandq zmm24, zmm20, zmm19
        ; %10 = add u32 %7, %9
    a1  vpaddd zmm20, zmm22, zmm21
    a7  vpaddd zmm21, zmm23, zmm24
        ; %11 = bitwise_right_shift u32 %10, %2
    ad  vpsrlvd zmm22, zmm20, zmm18
    b3  vpsrlvd zmm20, zmm21, zmm18
        ; %12 = where u32 %5, %0, %11
    b9  vpblendmd zmm21 {k2}, zmm22, zmm16
    bf  vpblendmd zmm22 {k3}, zmm20, zmm16
        ; %13 = cast u16 %12
    c5  vpmovdw ymm20, zmm21
    cb  vpmovdw ymm21, zmm22
        ; store bf16 $0 %14
    d1  vmovups ymmword ptr [rdx + 2*rsi], ymm20
    d8  vmovups ymmword ptr [rdx + 2*rsi + 0x20], ymm21
        ; addresses
    e0  add rsi, 0x20
    e4  sub r8, 0x20
    e8  jae .L0
.L1:
    ee  add r8, 0x10
    f2  js .L3
    f8  nop dword ptr [rax + rax]
.L2:
        ; %4 = load f32 $1
   100  vmovups zmm20, zmmword ptr [r9 + 4*rsi]
        ; %5 = ne f32 %4, %4
   107  vcmpneqps k2, zmm20, zmm20
        ; %7 = add u32 %6, %1
   10e  vpaddd zmm21, zmm20, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
   114  vpsrlvd zmm22, zmm20, zmm18
        ; %9 = bitwise_and u32 %8, %3
   11a  vpandq zmm20, zmm22, zmm19
        ; %10 = add u32 %7, %9
   120  vpaddd zmm22, zmm21, zmm20
        ; %11 = bitwise_right_shift u32 %10, %2
   126  vpsrlvd zmm20, zmm22, zmm18
        ; %12 = where u32 %5, %0, %11
   12c  vpblendmd zmm21 {k2}, zmm20, zmm16
        ; %13 = cast u16 %12
   132  vpmovdw ymm20, zmm21
        ; store bf16 $0 %14
   138  vmovups ymmword ptr [rdx + 2*rsi], ymm20
        ; addresses
   13f  add rsi, 0x10
   143  sub r8, 0x10
   147  jae .L2
.L3:
   149  add r8, 0x10
   14d  je .L4
        ; tail
   153  mov eax, 0xffffffff
   158  bzhi eax, eax, r8d
   15d  kmovd k1, eax
        ; %4 = load f32 $1
   161  vmovdqu32 zmm20 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %5 = ne f32 %4, %4
   168  vcmpneqps k2, zmm20, zmm20
        ; %7 = add u32 %6, %1
   16f  vpaddd zmm21, zmm20, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
   175  vpsrlvd zmm22, zmm20, zmm18
        ; %9 = bitwise_and u32 %8, %3
   17b  vpandq zmm20, zmm22, zmm19
        ; %10 = add u32 %7, %9
   181  vpaddd zmm22, zmm21, zmm20
        ; %11 = bitwise_right_shift u32 %10, %2
   187  vpsrlvd zmm20, zmm22, zmm18
        ; %12 = where u32 %5, %0, %11
   18d  vpblendmd zmm21 {k2}, zmm20, zmm16
        ; %13 = cast u16 %12
   193  vpmovdw ymm20, zmm21
        ; store bf16 $0 %14
   199  vmovdqu16 ymmword ptr [rdx + 2*rsi] {k1}, ymm20
.L4:
        ; return
   1a0  ret
