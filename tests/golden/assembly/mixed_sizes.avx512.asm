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
    17  sub r8, 0x10
    1b  jb .L1
    21  nop word ptr [rax + rax]
    2a  nop word ptr [rax + rax]
    33  nop word ptr [rax + rax]
    3c  nop dword ptr [rax]
.L0:
        ; %0 = load u8 $1
    40  vmovq xmm16, qword ptr [r9 + rsi]
    47  vmovq xmm17, qword ptr [r9 + rsi + 0x8]
        ; %1 = cast f64 %0
    4f  vpmovzxbd ymm19, xmm16
    55  vcvtdq2pd zmm18, ymm19
    5b  vpmovzxbd ymm19, xmm17
    61  vcvtdq2pd zmm16, ymm19
        ; %2 = load f32 $2
    67  vmovups ymm17, ymmword ptr [r10 + 4*rsi]
    6e  vmovups ymm19, ymmword ptr [r10 + 4*rsi + 0x20]
        ; %3 = cast f64 %2
    76  vcvtps2pd zmm20, ymm17
    7c  vcvtps2pd zmm17, ymm19
        ; %4 = add f64 %1, %3
    82  vaddpd zmm19, zmm18, zmm20
    88  vaddpd zmm18, zmm16, zmm17
        ; %5 = cast f32 %4
    8e  vcvtpd2ps ymm16, zmm19
    94  vcvtpd2ps ymm17, zmm18
        ; store f32 $0 %5
    9a  vmovups ymmword ptr [rdx + 4*rsi], ymm16
    a1  vmovups ymmword ptr [rdx + 4*rsi + 0x20], ymm17
        ; addresses
    a9  add rsi, 0x10
    ad  sub r8, 0x10
    b1  jae .L0
.L1:
    b3  add r8, 0x8
    b7  js .L3
    bd  nop dword ptr [rax]
.L2:
        ; %0 = load u8 $1
    c0  vmovq xmm16, qword ptr [r9 + rsi]
        ; %1 = cast f64 %0
    c7  vpmovzxbd ymm18, xmm16
    cd  vcvtdq2pd zmm17, ymm18
        ; %2 = load f32 $2
    d3  vmovups ymm16, ymmword ptr [r10 + 4*rsi]
        ; %3 = cast f64 %2
    da  vcvtps2pd zmm18, ymm16
        ; %4 = add f64 %1, %3
    e0  vaddpd zmm16, zmm17, zmm18
        ; %5 = cast f32 %4
    e6  vcvtpd2ps ymm17, zmm16
        ; store f32 $0 %5
    ec  vmovups ymmword ptr [rdx + 4*rsi], ymm17
        ; addresses
    f3  add rsi, 0x8
    f7  sub r8, 0x8
    fb  jae .L2
.L3:
    fd  add r8, 0x8
   101  je .L4
        ; tail
   107  mov eax, 0xffffffff
   10c  bzhi eax, eax, r8d
   111  kmovd k1, eax
        ; %0 = load u8 $1
   115  vmovdqu8 xmm16 {k1} {z}, xmmword ptr [r9 + rsi]
        ; %1 = cast f64 %0
   11c  vpmovzxbd ymm18, xmm16
   122  vcvtdq2pd zmm17, ymm18
        ; %2 = load f32 $2
   128  vmovdqu32 ymm16 {k1} {z}, ymmword ptr [r10 + 4*rsi]
        ; %3 = cast f64 %2
   12f  vcvtps2pd zmm18, ymm16
        ; %4 = add f64 %1, %3
   135  vaddpd zmm16, zmm17, zmm18
        ; %5 = cast f32 %4
   13b  vcvtpd2ps ymm17, zmm16
        ; store f32 $0 %5
   141  vmovdqu32 ymmword ptr [rdx + 4*rsi] {k1}, ymm17
.L4:
        ; return
   148  ret
