        ; entry
     0  push rbx
     1  push rbp
     2  mov rcx, qword ptr [rdi]
     5  mov r9, qword ptr [rcx]
     8  mov rbx, qword ptr [rcx + 0x8]
     c  mov rbp, qword ptr [rcx + 0x10]
    10  mov rax, qword ptr [rdi + 0x8]
    14  mov r8, qword ptr [rax]
        ; start of the innermost loop
    17  xor esi, esi
        ; vectors
    19  sub r8, 0x10
    1d  jb .L1
    23  nop word ptr [rax + rax]
    2c  nop word ptr [rax + rax]
    35  nop word ptr [rax + rax]
    3e  nop
.L0:
        ; %0 = load i64 $1
    40  vmovups ymm0, ymmword ptr [rbx + 8*rsi]
    45  vmovups ymm1, ymmword ptr [rbx + 8*rsi + 0x20]
        ; %1 = load i64 $2
    4b  vmovups ymm2, ymmword ptr [rbp + 8*rsi]
    51  vmovups ymm3, ymmword ptr [rbp + 8*rsi + 0x20]
        ; %2 = mul i64 %0, %1
    57  vpsrlq ymm5, ymm0, 0x20
    5c  vpmuludq ymm5, ymm5, ymm2
    60  vpsrlq ymm6, ymm2, 0x20
    65  vpmuludq ymm6, ymm6, ymm0
    69  vpaddq ymm5, ymm5, ymm6
    6d  vpsllq ymm5, ymm5, 0x20
    72  vpmuludq ymm4, ymm0, ymm2
    76  vpaddq ymm4, ymm4, ymm5
    7a  vpsrlq ymm2, ymm1, 0x20
    7f  vpmuludq ymm2, ymm2, ymm3
    83  vpsrlq ymm5, ymm3, 0x20
    88  vpmuludq ymm5, ymm5, ymm1
    8c  vpaddq ymm2, ymm2, ymm5
    90  vpsllq ymm2, ymm2, 0x20
    95  vpmuludq ymm0, ymm1, ymm3
    99  vpaddq ymm0, ymm0, ymm2
        ; store i64 $0 %2
    9d  vmovups ymmword ptr [r9 + 8*rsi], ymm4
    a3  vmovups ymmword ptr [r9 + 8*rsi + 0x20], ymm0
        ; %0 = load i64 $1
    aa  vmovups ymm0, ymmword ptr [rbx + 8*rsi + 0x40]
    b0  vmovups ymm1, ymmword ptr [rbx + 8*rsi + 0x60]
        ; %1 = load i64 $2
    b6  vmovups ymm2, ymmword ptr [rbp + 8*rsi + 0x40]
    bc  vmovups ymm3, ymmword ptr [rbp + 8*rsi + 0x60]
        ; %2 = mul i64 %0, %1
    c2  vpsrlq ymm5, ymm0, 0x20
    c7  vpmuludq ymm5, ymm5, ymm2
    cb  vpsrlq ymm6, ymm2, 0x20
    d0  vpmuludq ymm6, ymm6, ymm0
    d4  vpaddq ymm5, ymm5, ymm6
    d8  vpsllq ymm5, ymm5, 0x20
    dd  vpmuludq ymm4, ymm0, ymm2
    e1  vpaddq ymm4, ymm4, ymm5
    e5  vpsrlq ymm2, ymm1, 0x20
    ea  vpmuludq ymm2, ymm2, ymm3
    ee  vpsrlq ymm5, ymm3, 0x20
    f3  vpmuludq ymm5, ymm5, ymm1
    f7  vpaddq ymm2, ymm2, ymm5
    fb  vpsllq ymm2, ymm2, 0x20
   100  vpmuludq ymm0, ymm1, ymm3
   104  vpaddq ymm0, ymm0, ymm2
        ; store i64 $0 %2
   108  vmovups ymmword ptr [r9 + 8*rsi + 0x40], ymm4
   10f  vmovups ymmword ptr [r9 + 8*rsi + 0x60], ymm0
        ; addresses
   116  add rsi, 0x10
   11a  sub r8, 0x10
   11e  jae .L0
.L1:
   124  add r8, 0xc
   128  js .L3
   12e  nop word ptr [rax + rax]
   137  nop word ptr [rax + rax]
.L2:
        ; %0 = load i64 $1
   140  vmovups ymm0, ymmword ptr [rbx + 8*rsi]
        ; %1 = load i64 $2
   145  vmovups ymm1, ymmword ptr [rbp + 8*rsi]
        ; %2 = mul i64 %0, %1
   14b  vpsrlq ymm3, ymm0, 0x20
   150  vpmuludq ymm3, ymm3, ymm1
   154  vpsrlq ymm4, ymm1, 0x20
   159  vpmuludq ymm4, ymm4, ymm0
   15d  vpaddq ymm3, ymm3, ymm4
   161  vpsllq ymm3, ymm3, 0x20
   166  vpmuludq ymm2, ymm0, ymm1
   16a  vpaddq ymm2, ymm2, ymm3
        ; store i64 $0 %2
   16e  vmovups ymmword ptr [r9 + 8*rsi], ymm2
        ; addresses
   174  add rsi, 0x4
   178  sub r8, 0x4
   17c  jae .L2
.L3:
   17e  add r8, 0x4
   182  je .L4
        ; tail
   188  mov r11d, 0x4
   18e  cmp r8, r11
   191  cmovb r11, r8
        ; %0 = load i64 $1
   195  lea rcx, [rip - 0x1dc]
   19c  mov rdx, r11
   19f  neg rdx
   1a2  vmovups ymm1, ymmword ptr [rcx + 8*rdx + 0x20]
   1a8  vpmaskmovq ymm0, ymm1, ymmword ptr [rbx + 8*rsi]
        ; %1 = load i64 $2
   1ae  lea rcx, [rip - 0x1f5]
   1b5  mov rdx, r11
   1b8  neg rdx
   1bb  vmovups ymm2, ymmword ptr [rcx + 8*rdx + 0x20]
   1c1  vpmaskmovq ymm1, ymm2, ymmword ptr [rbp + 8*rsi]
        ; %2 = mul i64 %0, %1
   1c8  vpsrlq ymm3, ymm0, 0x20
   1cd  vpmuludq ymm3, ymm3, ymm1
   1d1  vpsrlq ymm4, ymm1, 0x20
   1d6  vpmuludq ymm4, ymm4, ymm0
   1da  vpaddq ymm3, ymm3, ymm4
   1de  vpsllq ymm3, ymm3, 0x20
   1e3  vpmuludq ymm2, ymm0, ymm1
   1e7  vpaddq ymm2, ymm2, ymm3
        ; store i64 $0 %2
   1eb  lea rcx, [rip - 0x232]
   1f2  mov rdx, r11
   1f5  neg rdx
   1f8  vmovups ymm0, ymmword ptr [rcx + 8*rdx + 0x20]
   1fe  vpmaskmovq ymmword ptr [r9 + 8*rsi], ymm0, ymm2
.L4:
        ; return
   204  vzeroupper
   207  pop rbp
   208  pop rbx
   209  ret
