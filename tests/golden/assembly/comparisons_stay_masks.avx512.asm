        ; %0 = param f32 #0
     0  mov rax, qword ptr [rdi + 0x18]
     4  vpbroadcastd zmm16, dword ptr [rax]
        ; %1 = param f32 #1
     a  mov rax, qword ptr [rdi + 0x18]
     e  vpbroadcastd zmm17, dword ptr [rax + 0x10]
    15  mov rcx, qword ptr [rdi]
    18  mov rdx, qword ptr [rcx]
    1b  mov r9, qword ptr [rcx + 0x8]
    1f  mov rax, qword ptr [rdi + 0x8]
    23  mov r8, qword ptr [rax]
        ; start of the innermost loop
    26  xor esi, esi
        ; vectors
    28  sub r8, 0x40
    2c  jb .L1
    32  nop word ptr [rax + rax]
    3b  nop dword ptr [rax + rax]
.L0:
        ; %2 = load f32 $1
    40  vmovups zmm18, zmmword ptr [r9 + 4*rsi]
    47  vmovups zmm19, zmmword ptr [r9 + 4*rsi + 0x40]
        ; %3 = gt f32 %2, %0
    4f  vcmpgt_oqps k2, zmm18, zmm16
    56  vcmpgt_oqps k3, zmm19, zmm16
        ; %4 = lt f32 %2, %1
    5d  vcmplt_oqps k4, zmm18, zmm17
    64  vcmplt_oqps k5, zmm19, zmm17
        ; %5 = bitwise_and bool %3, %4
    6b  kandq k6, k2, k4
    70  kandq k2, k3, k5
        ; store bool $0 %5
    75  vpmovm2b xmm18, k6
    7b  vpabsb xmm18, xmm18
    81  vmovups xmmword ptr [rdx + rsi], xmm18
    88  vpmovm2b xmm18, k2
    8e  vpabsb xmm18, xmm18
    94  vmovups xmmword ptr [rdx + rsi + 0x10], xmm18
        ; %2 = load f32 $1
    9c  vmovups zmm18, zmmword ptr [r9 + 4*rsi + 0x80]
    a4  vmovups zmm19, zmmword ptr [r9 + 4*rsi + 0xc0]
        ; %3 = gt f32 %2, %0
    ac  vcmpgt_oqps k2, zmm18, zmm16
    b3  vcmpgt_oqps k3, zmm19, zmm16
        ; %4 = lt f32 %2, %1
    ba  vcmplt_oqps k4, zmm18, zmm17
    c1  vcmplt_oqps k5, zmm19, zmm17
        ; %5 = bitwise_and bool %3, %4
    c8  kandq k6, k2, k4
    cd  kandq k2, k3, k5
        ; store bool $0 %5
    d2  vpmovm2b xmm18, k6
    d8  vpabsb xmm18, xmm18
    de  vmovups xmmword ptr [rdx + rsi + 0x20], xmm18
    e6  vpmovm2b xmm18, k2
    ec  vpabsb xmm18, xmm18
    f2  vmovups xmmword ptr [rdx + rsi + 0x30], xmm18
        ; addresses
    fa  add rsi, 0x40
    fe  sub r8, 0x40
   102  jae .L0
.L1:
   108  add r8, 0x30
   10c  js .L3
   112  nop word ptr [rax + rax]
   11b  nop dword ptr [rax + rax]
.L2:
        ; %2 = load f32 $1
   120  vmovups zmm18, zmmword ptr [r9 + 4*rsi]
        ; %3 = gt f32 %2, %0
   127  vcmpgt_oqps k2, zmm18, zmm16
        ; %4 = lt f32 %2, %1
   12e  vcmplt_oqps k3, zmm18, zmm17
        ; %5 = bitwise_and bool %3, %4
   135  kandq k4, k2, k3
        ; store bool $0 %5
   13a  vpmovm2b xmm18, k4
   140  vpabsb xmm18, xmm18
   146  vmovups xmmword ptr [rdx + rsi], xmm18
        ; addresses
   14d  add rsi, 0x10
   151  sub r8, 0x10
   155  jae .L2
.L3:
   157  add r8, 0x10
   15b  je .L4
        ; tail
   161  mov eax, 0xffffffff
   166  bzhi eax, eax, r8d
   16b  kmovd k1, eax
        ; %2 = load f32 $1
   16f  vmovdqu32 zmm18 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %3 = gt f32 %2, %0
   176  vcmpgt_oqps k2, zmm18, zmm16
        ; %4 = lt f32 %2, %1
   17d  vcmplt_oqps k3, zmm18, zmm17
        ; %5 = bitwise_and bool %3, %4
   184  kandq k4, k2, k3
        ; store bool $0 %5
   189  vpmovm2b xmm18, k4
   18f  vpabsb xmm18, xmm18
   195  vmovdqu8 xmmword ptr [rdx + rsi] {k1}, xmm18
.L4:
        ; return
   19c  ret
