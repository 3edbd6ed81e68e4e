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
    89  vpsrld zmm24, zmm20, 0x10
    90  vpsrld zmm20, zmm21, 0x10
        ; %9 = bitwise_and u32 %8, %3
    97  vpandq zmm21, zmm24, zmm19
    9d  vpandq zmm24, zmm20, zmm19
        ; %10 = add u32 %7, %9
    a3  vpaddd zmm20, zmm22, zmm21
    a9  vpaddd zmm21, zmm23, zmm24
        ; %11 = where u32 %5, %0, %10
    af  vpblendmd zmm22 {k2}, zmm20, zmm16
    b5  vpblendmd zmm20 {k3}, zmm21, zmm16
        ; %13 = cast u16 %12
    bb  vmovdqu16 zmm21, zmmword ptr [rip - 0x145]
    c5  vpermw zmm23, zmm21, zmm22
    cb  vmovdqu16 zmm21, zmmword ptr [rip - 0x155]
    d5  vpermw zmm22, zmm21, zmm20
        ; store bf16 $0 %14
    db  vmovups ymmword ptr [rdx + 2*rsi], ymm23
    e2  vmovups ymmword ptr [rdx + 2*rsi + 0x20], ymm22
        ; addresses
    ea  add rsi, 0x20
    ee  sub r8, 0x20
    f2  jae .L0
.L1:
    f8  add r8, 0x10
    fc  js .L3
   102  nop word ptr [rax + rax]
   10b  nop word ptr [rax + rax]
   114  nop word ptr [rax + rax]
   11d  nop dword ptr [rax]
.L2:
        ; %4 = load f32 $1
   120  vmovups zmm20, zmmword ptr [r9 + 4*rsi]
        ; %5 = ne f32 %4, %4
   127  vcmpneqps k2, zmm20, zmm20
        ; %7 = add u32 %6, %1
   12e  vpaddd zmm21, zmm20, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
   134  vpsrld zmm22, zmm20, 0x10
        ; %9 = bitwise_and u32 %8, %3
   13b  vpandq zmm20, zmm22, zmm19
        ; %10 = add u32 %7, %9
   141  vpaddd zmm22, zmm21, zmm20
        ; %11 = where u32 %5, %0, %10
   147  vpblendmd zmm20 {k2}, zmm22, zmm16
        ; %13 = cast u16 %12
   14d  vmovdqu16 zmm21, zmmword ptr [rip - 0x1d7]
   157  vpermw zmm22, zmm21, zmm20
        ; store bf16 $0 %14
   15d  vmovups ymmword ptr [rdx + 2*rsi], ymm22
        ; addresses
   164  add rsi, 0x10
   168  sub r8, 0x10
   16c  jae .L2
.L3:
   16e  add r8, 0x10
   172  je .L4
        ; tail
   178  mov eax, 0xffffffff
   17d  bzhi eax, eax, r8d
   182  kmovd k1, eax
        ; %4 = load f32 $1
   186  vmovdqu32 zmm20 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %5 = ne f32 %4, %4
   18d  vcmpneqps k2, zmm20, zmm20
        ; %7 = add u32 %6, %1
   194  vpaddd zmm21, zmm20, zmm17
        ; %8 = bitwise_right_shift u32 %6, %2
   19a  vpsrld zmm22, zmm20, 0x10
        ; %9 = bitwise_and u32 %8, %3
   1a1  vpandq zmm20, zmm22, zmm19
        ; %10 = add u32 %7, %9
   1a7  vpaddd zmm22, zmm21, zmm20
        ; %11 = where u32 %5, %0, %10
   1ad  vpblendmd zmm20 {k2}, zmm22, zmm16
        ; %13 = cast u16 %12
   1b3  vmovdqu16 zmm21, zmmword ptr [rip - 0x23d]
   1bd  vpermw zmm22, zmm21, zmm20
        ; store bf16 $0 %14
   1c3  vmovdqu16 ymmword ptr [rdx + 2*rsi] {k1}, ymm22
.L4:
        ; return
   1ca  ret
