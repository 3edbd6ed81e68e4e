        ; entry
     0  mov rcx, qword ptr [rdi]
     3  mov rdx, qword ptr [rcx]
     6  mov r9, qword ptr [rcx + 0x8]
     a  mov r10, qword ptr [rcx + 0x10]
     e  mov rax, qword ptr [rdi + 0x8]
    12  mov r8, qword ptr [rax]
        ; start of the innermost loop
    15  xor esi, esi
        ; vectors
    17  sub r8, 0x100
    1e  jb .L1
    24  nop word ptr [rax + rax]
    2d  nop word ptr [rax + rax]
    36  nop word ptr [rax + rax]
    3f  nop
.L0:
        ; %0 = load i8 $1
    40  vmovups zmm16, zmmword ptr [r9 + rsi]
    47  vmovups zmm17, zmmword ptr [r9 + rsi + 0x40]
    4f  vmovups zmm18, zmmword ptr [r9 + rsi + 0x80]
    57  vmovups zmm19, zmmword ptr [r9 + rsi + 0xc0]
        ; %1 = load i8 $2
    5f  vmovups zmm20, zmmword ptr [r10 + rsi]
    66  vmovups zmm21, zmmword ptr [r10 + rsi + 0x40]
    6e  vmovups zmm22, zmmword ptr [r10 + rsi + 0x80]
    76  vmovups zmm23, zmmword ptr [r10 + rsi + 0xc0]
        ; %2 = add i8 %0, %1
    7e  vpaddb zmm24, zmm16, zmm20
    84  vpaddb zmm16, zmm17, zmm21
    8a  vpaddb zmm17, zmm18, zmm22
    90  vpaddb zmm18, zmm19, zmm23
        ; store i8 $0 %2
    96  vmovups zmmword ptr [rdx + rsi], zmm24
    9d  vmovups zmmword ptr [rdx + rsi + 0x40], zmm16
    a5  vmovups zmmword ptr [rdx + rsi + 0x80], zmm17
    ad  vmovups zmmword ptr [rdx + rsi + 0xc0], zmm18
        ; addresses
    b5  add rsi, 0x100
    bc  sub r8, 0x100
    c3  jae .L0
.L1:
    c9  add r8, 0xc0
    d0  js .L3
    d6  nop word ptr [rax + rax]
    df  nop
.L2:
        ; %0 = load i8 $1
    e0  vmovups zmm16, zmmword ptr [r9 + rsi]
        ; %1 = load i8 $2
    e7  vmovups zmm17, zmmword ptr [r10 + rsi]
        ; %2 = add i8 %0, %1
    ee  vpaddb zmm18, zmm16, zmm17
        ; store i8 $0 %2
    f4  vmovups zmmword ptr [rdx + rsi], zmm18
        ; addresses
    fb  add rsi, 0x40
    ff  sub r8, 0x40
   103  jae .L2
.L3:
   105  add r8, 0x40
   109  je .L4
        ; tail
   10f  mov rax, -0x1
   116  bzhi rax, rax, r8
   11b  kmovq k1, rax
        ; %0 = load i8 $1
   120  vmovdqu8 zmm16 {k1} {z}, zmmword ptr [r9 + rsi]
        ; %1 = load i8 $2
   127  vmovdqu8 zmm17 {k1} {z}, zmmword ptr [r10 + rsi]
        ; %2 = add i8 %0, %1
   12e  vpaddb zmm18, zmm16, zmm17
        ; store i8 $0 %2
   134  vmovdqu8 zmmword ptr [rdx + rsi] {k1}, zmm18
.L4:
        ; return
   13b  ret
