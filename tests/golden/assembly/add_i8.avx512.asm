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
        ; %1 = load i8 $2
    47  vmovups zmm17, zmmword ptr [r10 + rsi]
        ; %2 = add i8 %0, %1
    4e  vpaddb zmm18, zmm16, zmm17
        ; store i8 $0 %2
    54  vmovups zmmword ptr [rdx + rsi], zmm18
        ; %0 = load i8 $1
    5b  vmovups zmm16, zmmword ptr [r9 + rsi + 0x40]
        ; %1 = load i8 $2
    63  vmovups zmm17, zmmword ptr [r10 + rsi + 0x40]
        ; %2 = add i8 %0, %1
    6b  vpaddb zmm18, zmm16, zmm17
        ; store i8 $0 %2
    71  vmovups zmmword ptr [rdx + rsi + 0x40], zmm18
        ; %0 = load i8 $1
    79  vmovups zmm16, zmmword ptr [r9 + rsi + 0x80]
        ; %1 = load i8 $2
    81  vmovups zmm17, zmmword ptr [r10 + rsi + 0x80]
        ; %2 = add i8 %0, %1
    89  vpaddb zmm18, zmm16, zmm17
        ; store i8 $0 %2
    8f  vmovups zmmword ptr [rdx + rsi + 0x80], zmm18
        ; %0 = load i8 $1
    97  vmovups zmm16, zmmword ptr [r9 + rsi + 0xc0]
        ; %1 = load i8 $2
    9f  vmovups zmm17, zmmword ptr [r10 + rsi + 0xc0]
        ; %2 = add i8 %0, %1
    a7  vpaddb zmm18, zmm16, zmm17
        ; store i8 $0 %2
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
