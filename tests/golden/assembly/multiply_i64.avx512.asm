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
    17  sub r8, 0x20
    1b  jb .L1
    21  nop word ptr [rax + rax]
    2a  nop word ptr [rax + rax]
    33  nop word ptr [rax + rax]
    3c  nop dword ptr [rax]
.L0:
        ; %0 = load i64 $1
    40  vmovups zmm16, zmmword ptr [r9 + 8*rsi]
    47  vmovups zmm17, zmmword ptr [r9 + 8*rsi + 0x40]
    4f  vmovups zmm18, zmmword ptr [r9 + 8*rsi + 0x80]
    57  vmovups zmm19, zmmword ptr [r9 + 8*rsi + 0xc0]
        ; %1 = load i64 $2
    5f  vmovups zmm20, zmmword ptr [r10 + 8*rsi]
    66  vmovups zmm21, zmmword ptr [r10 + 8*rsi + 0x40]
    6e  vmovups zmm22, zmmword ptr [r10 + 8*rsi + 0x80]
    76  vmovups zmm23, zmmword ptr [r10 + 8*rsi + 0xc0]
        ; %2 = mul i64 %0, %1
    7e  vpmullq zmm24, zmm16, zmm20
    84  vpmullq zmm16, zmm17, zmm21
    8a  vpmullq zmm17, zmm18, zmm22
    90  vpmullq zmm18, zmm19, zmm23
        ; store i64 $0 %2
    96  vmovups zmmword ptr [rdx + 8*rsi], zmm24
    9d  vmovups zmmword ptr [rdx + 8*rsi + 0x40], zmm16
    a5  vmovups zmmword ptr [rdx + 8*rsi + 0x80], zmm17
    ad  vmovups zmmword ptr [rdx + 8*rsi + 0xc0], zmm18
        ; addresses
    b5  add rsi, 0x20
    b9  sub r8, 0x20
    bd  jae .L0
.L1:
    bf  add r8, 0x18
    c3  js .L3
    c9  nop word ptr [rax + rax]
    d2  nop word ptr [rax + rax]
    db  nop dword ptr [rax + rax]
.L2:
        ; %0 = load i64 $1
    e0  vmovups zmm16, zmmword ptr [r9 + 8*rsi]
        ; %1 = load i64 $2
    e7  vmovups zmm17, zmmword ptr [r10 + 8*rsi]
        ; %2 = mul i64 %0, %1
    ee  vpmullq zmm18, zmm16, zmm17
        ; store i64 $0 %2
    f4  vmovups zmmword ptr [rdx + 8*rsi], zmm18
        ; addresses
    fb  add rsi, 0x8
    ff  sub r8, 0x8
   103  jae .L2
.L3:
   105  add r8, 0x8
   109  je .L4
        ; tail
   10f  mov eax, 0xffffffff
   114  bzhi eax, eax, r8d
   119  kmovd k1, eax
        ; %0 = load i64 $1
   11d  vmovdqu64 zmm16 {k1} {z}, zmmword ptr [r9 + 8*rsi]
        ; %1 = load i64 $2
   124  vmovdqu64 zmm17 {k1} {z}, zmmword ptr [r10 + 8*rsi]
        ; %2 = mul i64 %0, %1
   12b  vpmullq zmm18, zmm16, zmm17
        ; store i64 $0 %2
   131  vmovdqu64 zmmword ptr [rdx + 8*rsi] {k1}, zmm18
.L4:
        ; return
   138  ret
