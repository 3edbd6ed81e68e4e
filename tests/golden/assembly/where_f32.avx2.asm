        ; entry
     0  push rbx
     1  push rbp
     2  push r12
     4  mov rax, rsp
     7  sub rsp, 0x40
     e  and rsp, -0x40
    12  mov qword ptr [rsp], rax
    16  mov rcx, qword ptr [rdi]
    19  mov r9, qword ptr [rcx]
    1c  mov rbx, qword ptr [rcx + 0x8]
    20  mov rbp, qword ptr [rcx + 0x10]
    24  mov r12, qword ptr [rcx + 0x18]
    28  mov rax, qword ptr [rdi + 0x8]
    2c  mov r8, qword ptr [rax]
        ; start of the innermost loop
    2f  xor esi, esi
        ; vectors
    31  sub r8, 0x20
    35  jb .L1
    3b  nop dword ptr [rax + rax]
.L0:
        ; %0 = load bool $1
    40  vmovq xmm0, qword ptr [rbx + rsi]
    45  vpxor xmm2, xmm2, xmm2
    49  vpcmpeqb xmm1, xmm0, xmm2
    4d  vpxor xmm1, xmm1, xmmword ptr [rip - 0x65]
    55  vmovq xmm0, qword ptr [rbx + rsi + 0x8]
    5b  vpxor xmm3, xmm3, xmm3
    5f  vpcmpeqb xmm2, xmm0, xmm3
    63  vpxor xmm2, xmm2, xmmword ptr [rip - 0x7b]
        ; %1 = load f32 $2
    6b  vmovups ymm0, ymmword ptr [rbp + 4*rsi]
    71  vmovups ymm3, ymmword ptr [rbp + 4*rsi + 0x20]
        ; %2 = load f32 $3
    77  vmovups ymm4, ymmword ptr [r12 + 4*rsi]
    7d  vmovups ymm5, ymmword ptr [r12 + 4*rsi + 0x20]
        ; %3 = where f32 %0, %1, %2
    84  vpmovsxbd ymm6, xmm1
    89  vpblendvb ymm7, ymm4, ymm0, ymm6
    8f  vpmovsxbd ymm0, xmm2
    94  vpblendvb ymm1, ymm5, ymm3, ymm0
        ; store f32 $0 %3
    9a  vmovups ymmword ptr [r9 + 4*rsi], ymm7
    a0  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm1
        ; %0 = load bool $1
    a7  vmovq xmm0, qword ptr [rbx + rsi + 0x10]
    ad  vpxor xmm2, xmm2, xmm2
    b1  vpcmpeqb xmm1, xmm0, xmm2
    b5  vpxor xmm1, xmm1, xmmword ptr [rip - 0xcd]
    bd  vmovq xmm0, qword ptr [rbx + rsi + 0x18]
    c3  vpxor xmm3, xmm3, xmm3
    c7  vpcmpeqb xmm2, xmm0, xmm3
    cb  vpxor xmm2, xmm2, xmmword ptr [rip - 0xe3]
        ; %1 = load f32 $2
    d3  vmovups ymm0, ymmword ptr [rbp + 4*rsi + 0x40]
    d9  vmovups ymm3, ymmword ptr [rbp + 4*rsi + 0x60]
        ; %2 = load f32 $3
    df  vmovups ymm4, ymmword ptr [r12 + 4*rsi + 0x40]
    e6  vmovups ymm5, ymmword ptr [r12 + 4*rsi + 0x60]
        ; %3 = where f32 %0, %1, %2
    ed  vpmovsxbd ymm6, xmm1
    f2  vpblendvb ymm7, ymm4, ymm0, ymm6
    f8  vpmovsxbd ymm0, xmm2
    fd  vpblendvb ymm1, ymm5, ymm3, ymm0
        ; store f32 $0 %3
   103  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm7
   10a  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm1
        ; addresses
   111  add rsi, 0x20
   115  sub r8, 0x20
   119  jae .L0
.L1:
   11f  add r8, 0x18
   123  js .L3
   129  nop word ptr [rax + rax]
   132  nop word ptr [rax + rax]
   13b  nop dword ptr [rax + rax]
.L2:
        ; %0 = load bool $1
   140  vmovq xmm0, qword ptr [rbx + rsi]
   145  vpxor xmm2, xmm2, xmm2
   149  vpcmpeqb xmm1, xmm0, xmm2
   14d  vpxor xmm1, xmm1, xmmword ptr [rip - 0x165]
        ; %1 = load f32 $2
   155  vmovups ymm0, ymmword ptr [rbp + 4*rsi]
        ; %2 = load f32 $3
   15b  vmovups ymm2, ymmword ptr [r12 + 4*rsi]
        ; %3 = where f32 %0, %1, %2
   161  vpmovsxbd ymm3, xmm1
   166  vpblendvb ymm4, ymm2, ymm0, ymm3
        ; store f32 $0 %3
   16c  vmovups ymmword ptr [r9 + 4*rsi], ymm4
        ; addresses
   172  add rsi, 0x8
   176  sub r8, 0x8
   17a  jae .L2
.L3:
   17c  add r8, 0x8
   180  je .L5
        ; tail
   186  mov r11d, 0x8
   18c  cmp r8, r11
   18f  cmovb r11, r8
        ; %0 = load bool $1
   193  lea r10, [rbx + rsi]
   197  lea rax, [rip - 0x21e]
   19e  mov rdx, r11
   1a1  mov rcx, rdx
   1a4  and rcx, -0x4
   1a8  sub rax, rcx
   1ab  vmovups xmm1, xmmword ptr [rax + 0x20]
   1b0  vpmaskmovd xmm0, xmm1, xmmword ptr [r10]
   1b5  and edx, 0x3
   1b8  je .L4
   1be  vpandn xmm1, xmm1, xmmword ptr [rax + 0x1c]
   1c3  add r10, rcx
   1c6  movzx eax, byte ptr [r10 + rdx - 0x1]
   1cc  lea ecx, [8*rdx - 0x8]
   1d3  shlx eax, eax, ecx
   1d8  movzx ecx, byte ptr [r10]
   1dc  or ecx, eax
   1de  shr edx
   1e0  movzx eax, byte ptr [r10 + rdx]
   1e5  shl edx, 0x3
   1e8  shlx eax, eax, edx
   1ed  or ecx, eax
   1ef  vmovd xmm2, ecx
   1f3  vpbroadcastd xmm2, xmm2
   1f8  vpand xmm2, xmm2, xmm1
   1fc  vpor xmm0, xmm0, xmm2
.L4:
   200  vpxor xmm2, xmm2, xmm2
   204  vpcmpeqb xmm1, xmm0, xmm2
   208  vpxor xmm1, xmm1, xmmword ptr [rip - 0x220]
        ; %1 = load f32 $2
   210  lea rcx, [rip - 0x297]
   217  mov rdx, r11
   21a  neg rdx
   21d  vmovups ymm2, ymmword ptr [rcx + 4*rdx + 0x20]
   223  vpmaskmovd ymm0, ymm2, ymmword ptr [rbp + 4*rsi]
        ; %2 = load f32 $3
   22a  lea rcx, [rip - 0x2b1]
   231  mov rdx, r11
   234  neg rdx
   237  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   23d  vpmaskmovd ymm2, ymm3, ymmword ptr [r12 + 4*rsi]
        ; %3 = where f32 %0, %1, %2
   243  vpmovsxbd ymm3, xmm1
   248  vpblendvb ymm4, ymm2, ymm0, ymm3
        ; store f32 $0 %3
   24e  lea rcx, [rip - 0x2d5]
   255  mov rdx, r11
   258  neg rdx
   25b  vmovups ymm0, ymmword ptr [rcx + 4*rdx + 0x20]
   261  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm0, ymm4
.L5:
        ; return
   267  vzeroupper
   26a  mov rsp, qword ptr [rsp]
   26e  pop r12
   270  pop rbp
   271  pop rbx
   272  ret
