        ; entry
     0  push rbx
     1  push rbp
     2  push r12
     4  mov rax, rsp
     7  sub rsp, 0xc0
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
   180  je .L8
        ; tail
   186  mov r11d, 0x8
   18c  cmp r8, r11
   18f  cmovb r11, r8
        ; %0 = load bool $1
   193  lea rax, [rbx + rsi]
   197  lea rdx, [rsp + 0x40]
   19c  xor ecx, ecx
   19e  test r11d, 0x8
   1a5  je .L4
   1ab  mov r10, qword ptr [rax + rcx]
   1af  mov qword ptr [rdx + rcx], r10
   1b3  add rcx, 0x8
.L4:
   1b7  test r11d, 0x4
   1be  je .L5
   1c4  mov r10d, dword ptr [rax + rcx]
   1c8  mov dword ptr [rdx + rcx], r10d
   1cc  add rcx, 0x4
.L5:
   1d0  test r11d, 0x2
   1d7  je .L6
   1dd  mov r10w, word ptr [rax + rcx]
   1e2  mov word ptr [rdx + rcx], r10w
   1e7  add rcx, 0x2
.L6:
   1eb  test r11d, 0x1
   1f2  je .L7
   1f8  mov r10b, byte ptr [rax + rcx]
   1fc  mov byte ptr [rdx + rcx], r10b
   200  add rcx, 0x1
.L7:
   204  vmovq xmm0, qword ptr [rsp + 0x40]
   20a  vpxor xmm3, xmm3, xmm3
   20e  vpcmpeqb xmm2, xmm0, xmm3
   212  vpxor xmm2, xmm2, xmmword ptr [rip - 0x22a]
        ; %1 = load f32 $2
   21a  lea rcx, [rip - 0x2a1]
   221  mov rdx, r11
   224  neg rdx
   227  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   22d  vpmaskmovd ymm0, ymm1, ymmword ptr [rbp + 4*rsi]
        ; %2 = load f32 $3
   234  lea rcx, [rip - 0x2bb]
   23b  mov rdx, r11
   23e  neg rdx
   241  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   247  vpmaskmovd ymm1, ymm3, ymmword ptr [r12 + 4*rsi]
        ; %3 = where f32 %0, %1, %2
   24d  vpmovsxbd ymm3, xmm2
   252  vpblendvb ymm4, ymm1, ymm0, ymm3
        ; store f32 $0 %3
   258  lea rcx, [rip - 0x2df]
   25f  mov rdx, r11
   262  neg rdx
   265  vmovups ymm0, ymmword ptr [rcx + 4*rdx + 0x20]
   26b  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm0, ymm4
.L8:
        ; return
   271  vzeroupper
   274  mov rsp, qword ptr [rsp]
   278  pop r12
   27a  pop rbp
   27b  pop rbx
   27c  ret
