        ; entry
     0  mov rcx, qword ptr [rdi]
     3  mov rdx, qword ptr [rcx]
     6  mov r9, qword ptr [rcx + 0x8]
     a  mov r10, qword ptr [rcx + 0x10]
     e  mov r11, qword ptr [rcx + 0x18]
    12  mov rax, qword ptr [rdi + 0x8]
    16  mov r8, qword ptr [rax]
        ; start of the innermost loop
    19  xor esi, esi
        ; vectors
    1b  sub r8, 0x40
    1f  jb .L1
    25  nop word ptr [rax + rax]
    2e  nop word ptr [rax + rax]
    37  nop word ptr [rax + rax]
.L0:
        ; %0 = load bool $1
    40  vmovups xmm16, xmmword ptr [r9 + rsi]
    47  vptestmb k2, xmm16, xmm16
    4d  vmovups xmm16, xmmword ptr [r9 + rsi + 0x10]
    55  vptestmb k3, xmm16, xmm16
    5b  vmovups xmm16, xmmword ptr [r9 + rsi + 0x20]
    63  vptestmb k4, xmm16, xmm16
    69  vmovups xmm16, xmmword ptr [r9 + rsi + 0x30]
    71  vptestmb k5, xmm16, xmm16
        ; %1 = load f32 $2
    77  vmovups zmm16, zmmword ptr [r10 + 4*rsi]
    7e  vmovups zmm17, zmmword ptr [r10 + 4*rsi + 0x40]
    86  vmovups zmm18, zmmword ptr [r10 + 4*rsi + 0x80]
    8e  vmovups zmm19, zmmword ptr [r10 + 4*rsi + 0xc0]
        ; %2 = load f32 $3
    96  vmovups zmm20, zmmword ptr [r11 + 4*rsi]
    9d  vmovups zmm21, zmmword ptr [r11 + 4*rsi + 0x40]
    a5  vmovups zmm22, zmmword ptr [r11 + 4*rsi + 0x80]
    ad  vmovups zmm23, zmmword ptr [r11 + 4*rsi + 0xc0]
        ; %3 = where f32 %0, %1, %2
    b5  vpblendmd zmm24 {k2}, zmm20, zmm16
    bb  vpblendmd zmm16 {k3}, zmm21, zmm17
    c1  vpblendmd zmm17 {k4}, zmm22, zmm18
    c7  vpblendmd zmm18 {k5}, zmm23, zmm19
        ; store f32 $0 %3
    cd  vmovups zmmword ptr [rdx + 4*rsi], zmm24
    d4  vmovups zmmword ptr [rdx + 4*rsi + 0x40], zmm16
    dc  vmovups zmmword ptr [rdx + 4*rsi + 0x80], zmm17
    e4  vmovups zmmword ptr [rdx + 4*rsi + 0xc0], zmm18
        ; addresses
    ec  add rsi, 0x40
    f0  sub r8, 0x40
    f4  jae .L0
.L1:
    fa  add r8, 0x30
    fe  js .L3
   104  nop word ptr [rax + rax]
   10d  nop word ptr [rax + rax]
   116  nop word ptr [rax + rax]
   11f  nop
.L2:
        ; %0 = load bool $1
   120  vmovups xmm16, xmmword ptr [r9 + rsi]
   127  vptestmb k2, xmm16, xmm16
        ; %1 = load f32 $2
   12d  vmovups zmm16, zmmword ptr [r10 + 4*rsi]
        ; %2 = load f32 $3
   134  vmovups zmm17, zmmword ptr [r11 + 4*rsi]
        ; %3 = where f32 %0, %1, %2
   13b  vpblendmd zmm18 {k2}, zmm17, zmm16
        ; store f32 $0 %3
   141  vmovups zmmword ptr [rdx + 4*rsi], zmm18
        ; addresses
   148  add rsi, 0x10
   14c  sub r8, 0x10
   150  jae .L2
.L3:
   152  add r8, 0x10
   156  je .L4
        ; tail
   15c  mov eax, 0xffffffff
   161  bzhi eax, eax, r8d
   166  kmovd k1, eax
        ; %0 = load bool $1
   16a  vmovdqu8 xmm16 {k1} {z}, xmmword ptr [r9 + rsi]
   171  vptestmb k2, xmm16, xmm16
        ; %1 = load f32 $2
   177  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [r10 + 4*rsi]
        ; %2 = load f32 $3
   17e  vmovdqu32 zmm17 {k1} {z}, zmmword ptr [r11 + 4*rsi]
        ; %3 = where f32 %0, %1, %2
   185  vpblendmd zmm18 {k2}, zmm17, zmm16
        ; store f32 $0 %3
   18b  vmovdqu32 zmmword ptr [rdx + 4*rsi] {k1}, zmm18
.L4:
        ; return
   192  ret
