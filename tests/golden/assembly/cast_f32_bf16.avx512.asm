        ; %0 = constant u32 0x7fc00000
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
        ; %11 = where u32 %5, %0, %10
    ad  vpblendmd zmm22 {k2}, zmm20, zmm16
    b3  vpblendmd zmm20 {k3}, zmm21, zmm16
        ; %13 = cast u16 %12
    b9  vmovdqu16 zmm21, zmmword ptr [rip - 0x143]
    c3  vpermw zmm23, zmm21, zmm22
    c9  vmovdqu16 zmm21, zmmword ptr [rip - 0x153]
    d3  vpermw zmm22, zmm21, zmm20
        ; store bf16 $0 %14
    d9  vmovups ymmword ptr [rdx + 2*rsi], ymm23
    e0  vmovups ymmword ptr [rdx + 2*rsi + 0x20], ymm22
        ; addresses
    e8  add rsi, 0x20
    ec  sub r8, 0x20
    f0  jae .L0
.L1:
    f6  add r8, 0x10
    fa  js .L3
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
        ; %11 = where u32 %5, %0, %10
   126  vpblendmd zmm20 {k2}, zmm22, zmm16
        ; %13 = cast u16 %12
   12c  vmovdqu16 zmm21, zmmword ptr [rip - 0x1b6]
   136  vpermw zmm22, zmm21, zmm20
        ; store bf16 $0 %14
   13c  vmovups ymmword ptr [rdx + 2*rsi], ymm22
        ; addresses
   143  add rsi, 0x10
   147  sub r8, 0x10
   14b  jae .L2
.L3:
   14d  add r8, 0x10
   151  je .L4
        ; tail
   157  mov eax, 0xffffffff
   15c  bzhi eax, eax, r8d
   161  kmovd k1, eax
        ; %4 = load f32 $1
   165  vmovdqu32 zmm20 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %5 = ne f32 %4, %4
   16c  vcmpneqps k2, zmm20, zmm20
        ; %7 = add u32 %6, %1
   173  vpaddd zmm21, zmm20, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
   179  vpsrlvd zmm22, zmm20, zmm18
        ; %9 = bitwise_and u32 %8, %3
   17f  vpandq zmm20, zmm22, zmm19
        ; %10 = add u32 %7, %9
   185  vpaddd zmm22, zmm21, zmm20
        ; %11 = where u32 %5, %0, %10
   18b  vpblendmd zmm20 {k2}, zmm22, zmm16
        ; %13 = cast u16 %12
   191  vmovdqu16 zmm21, zmmword ptr [rip - 0x21b]
   19b  vpermw zmm22, zmm21, zmm20
        ; store bf16 $0 %14
   1a1  vmovdqu16 ymmword ptr [rdx + 2*rsi] {k1}, ymm22
.L4:
        ; return
   1a8  ret
