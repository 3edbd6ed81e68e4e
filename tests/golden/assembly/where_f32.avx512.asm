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
        ; %1 = load f32 $2
    4d  vmovups zmm16, zmmword ptr [r10 + 4*rsi]
        ; %2 = load f32 $3
    54  vmovups zmm17, zmmword ptr [r11 + 4*rsi]
        ; %3 = where f32 %0, %1, %2
    5b  vpblendmd zmm18 {k2}, zmm17, zmm16
        ; store f32 $0 %3
    61  vmovups zmmword ptr [rdx + 4*rsi], zmm18
        ; %0 = load bool $1
    68  vmovups xmm16, xmmword ptr [r9 + rsi + 0x10]
    70  vptestmb k2, xmm16, xmm16
        ; %1 = load f32 $2
    76  vmovups zmm16, zmmword ptr [r10 + 4*rsi + 0x40]
        ; %2 = load f32 $3
    7e  vmovups zmm17, zmmword ptr [r11 + 4*rsi + 0x40]
        ; %3 = where f32 %0, %1, %2
    86  vpblendmd zmm18 {k2}, zmm17, zmm16
        ; store f32 $0 %3
    8c  vmovups zmmword ptr [rdx + 4*rsi + 0x40], zmm18
        ; %0 = load bool $1
    94  vmovups xmm16, xmmword ptr [r9 + rsi + 0x20]
    9c  vptestmb k2, xmm16, xmm16
        ; %1 = load f32 $2
    a2  vmovups zmm16, zmmword ptr [r10 + 4*rsi + 0x80]
        ; %2 = load f32 $3
    aa  vmovups zmm17, zmmword ptr [r11 + 4*rsi + 0x80]
        ; %3 = where f32 %0, %1, %2
    b2  vpblendmd zmm18 {k2}, zmm17, zmm16
        ; store f32 $0 %3
    b8  vmovups zmmword ptr [rdx + 4*rsi + 0x80], zmm18
        ; %0 = load bool $1
    c0  vmovups xmm16, xmmword ptr [r9 + rsi + 0x30]
    c8  vptestmb k2, xmm16, xmm16
        ; %1 = load f32 $2
    ce  vmovups zmm16, zmmword ptr [r10 + 4*rsi + 0xc0]
        ; %2 = load f32 $3
    d6  vmovups zmm17, zmmword ptr [r11 + 4*rsi + 0xc0]
        ; %3 = where f32 %0, %1, %2
    de  vpblendmd zmm18 {k2}, zmm17, zmm16
        ; store f32 $0 %3
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
