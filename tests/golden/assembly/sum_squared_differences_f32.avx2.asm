        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0x8], rax
        ; enter a loop
    14  mov rax, qword ptr [rdi + 0x8]
    18  mov rax, qword ptr [rax]
    1b  mov qword ptr [rsp + 0x10], rax
    20  mov rax, qword ptr [rdi]
    23  mov rax, qword ptr [rax]
    26  mov qword ptr [rsp + 0x20], rax
    2b  mov rax, qword ptr [rdi]
    2e  mov rax, qword ptr [rax + 0x8]
    32  mov qword ptr [rsp + 0x28], rax
    37  mov rax, qword ptr [rdi]
    3a  mov rax, qword ptr [rax + 0x10]
    3e  mov qword ptr [rsp + 0x30], rax
.L0:
        ; enter a loop
    43  mov rax, qword ptr [rdi + 0x8]
    47  mov rax, qword ptr [rax + 0x8]
    4b  mov qword ptr [rsp + 0x18], rax
    50  mov rax, qword ptr [rsp + 0x20]
    55  mov qword ptr [rsp], rax
    59  mov r9, qword ptr [rsp + 0x28]
    5e  mov rbx, qword ptr [rsp + 0x30]
.L1:
    63  mov rax, qword ptr [rdi + 0x8]
    67  mov r8, qword ptr [rax + 0x10]
        ; start of a row
    6b  xor esi, esi
    6d  sub r8, 0x40
    71  jb .L3
        ; partial results
    77  mov rax, qword ptr [rsp]
    7b  vmovups ymm15, ymmword ptr [rax]
    7f  mov rax, qword ptr [rsp]
    83  vmovups ymm14, ymmword ptr [rax + 0x20]
    88  mov rax, qword ptr [rsp]
    8c  vmovups ymm13, ymmword ptr [rax + 0x40]
    91  mov rax, qword ptr [rsp]
    95  vmovups ymm12, ymmword ptr [rax + 0x60]
    9a  mov rax, qword ptr [rsp]
    9e  vmovups ymm11, ymmword ptr [rax + 0x80]
    a6  mov rax, qword ptr [rsp]
    aa  vmovups ymm10, ymmword ptr [rax + 0xa0]
    b2  mov rax, qword ptr [rsp]
    b6  vmovups ymm9, ymmword ptr [rax + 0xc0]
    be  mov rax, qword ptr [rsp]
    c2  vmovups ymm8, ymmword ptr [rax + 0xe0]
    ca  nop word ptr [rax + rax]
    d3  nop word ptr [rax + rax]
    dc  nop dword ptr [rax]
.L2:
        ; %0 = load f32 $1
    e0  vmovups ymm0, ymmword ptr [r9 + 4*rsi]
        ; %1 = load f32 $2
    e6  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
        ; %2 = sub f32 %0, %1
    eb  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
    ef  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
    f3  vaddps ymm15, ymm15, ymm0
        ; %0 = load f32 $1
    f7  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x20]
        ; %1 = load f32 $2
    fe  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
        ; %2 = sub f32 %0, %1
   104  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   108  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   10c  vaddps ymm14, ymm14, ymm0
        ; %0 = load f32 $1
   110  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x40]
        ; %1 = load f32 $2
   117  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x40]
        ; %2 = sub f32 %0, %1
   11d  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   121  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   125  vaddps ymm13, ymm13, ymm0
        ; %0 = load f32 $1
   129  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x60]
        ; %1 = load f32 $2
   130  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %2 = sub f32 %0, %1
   136  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   13a  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   13e  vaddps ymm12, ymm12, ymm0
        ; %0 = load f32 $1
   142  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x80]
        ; %1 = load f32 $2
   14c  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x80]
        ; %2 = sub f32 %0, %1
   155  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   159  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   15d  vaddps ymm11, ymm11, ymm0
        ; %0 = load f32 $1
   161  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xa0]
        ; %1 = load f32 $2
   16b  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0xa0]
        ; %2 = sub f32 %0, %1
   174  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   178  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   17c  vaddps ymm10, ymm10, ymm0
        ; %0 = load f32 $1
   180  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xc0]
        ; %1 = load f32 $2
   18a  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0xc0]
        ; %2 = sub f32 %0, %1
   193  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   197  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   19b  vaddps ymm9, ymm9, ymm0
        ; %0 = load f32 $1
   19f  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xe0]
        ; %1 = load f32 $2
   1a9  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0xe0]
        ; %2 = sub f32 %0, %1
   1b2  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   1b6  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   1ba  vaddps ymm8, ymm8, ymm0
        ; addresses
   1be  add rsi, 0x40
   1c2  sub r8, 0x40
   1c6  jae .L2
        ; partial results
   1cc  mov rax, qword ptr [rsp]
   1d0  vmovups ymmword ptr [rax], ymm15
   1d4  mov rax, qword ptr [rsp]
   1d8  vmovups ymmword ptr [rax + 0x20], ymm14
   1dd  mov rax, qword ptr [rsp]
   1e1  vmovups ymmword ptr [rax + 0x40], ymm13
   1e6  mov rax, qword ptr [rsp]
   1ea  vmovups ymmword ptr [rax + 0x60], ymm12
   1ef  mov rax, qword ptr [rsp]
   1f3  vmovups ymmword ptr [rax + 0x80], ymm11
   1fb  mov rax, qword ptr [rsp]
   1ff  vmovups ymmword ptr [rax + 0xa0], ymm10
   207  mov rax, qword ptr [rsp]
   20b  vmovups ymmword ptr [rax + 0xc0], ymm9
   213  mov rax, qword ptr [rsp]
   217  vmovups ymmword ptr [rax + 0xe0], ymm8
.L3:
   21f  add r8, 0x40
        ; vectors
   223  sub r8, 0x8
   227  jb .L5
   22d  nop word ptr [rax + rax]
   236  nop word ptr [rax + rax]
   23f  nop
.L4:
        ; %0 = load f32 $1
   240  vmovups ymm0, ymmword ptr [r9 + 4*rsi]
        ; %1 = load f32 $2
   246  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
        ; %2 = sub f32 %0, %1
   24b  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   24f  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   253  mov ecx, esi
   255  and ecx, 0x3f
   258  mov rax, qword ptr [rsp]
   25c  vmovups ymm2, ymmword ptr [rax + 4*rcx]
   261  vaddps ymm1, ymm2, ymm0
   265  mov ecx, esi
   267  and ecx, 0x3f
   26a  mov rax, qword ptr [rsp]
   26e  vmovups ymmword ptr [rax + 4*rcx], ymm1
        ; addresses
   273  add rsi, 0x8
   277  sub r8, 0x8
   27b  jae .L4
.L5:
   27d  add r8, 0x8
   281  je .L6
        ; tail
   287  mov r11d, 0x8
   28d  cmp r8, r11
   290  cmovb r11, r8
        ; %0 = load f32 $1
   294  lea rcx, [rip - 0x2db]
   29b  mov rdx, r11
   29e  neg rdx
   2a1  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   2a7  vpmaskmovd ymm0, ymm1, ymmword ptr [r9 + 4*rsi]
        ; %1 = load f32 $2
   2ad  lea rcx, [rip - 0x2f4]
   2b4  mov rdx, r11
   2b7  neg rdx
   2ba  vmovups ymm2, ymmword ptr [rcx + 4*rdx + 0x20]
   2c0  vpmaskmovd ymm1, ymm2, ymmword ptr [rbx + 4*rsi]
        ; %2 = sub f32 %0, %1
   2c6  vsubps ymm2, ymm0, ymm1
        ; %3 = mul f32 %2, %2
   2ca  vmulps ymm0, ymm2, ymm2
        ; accumulate f32 $0 add %3
   2ce  mov ecx, esi
   2d0  and ecx, 0x3f
   2d3  mov rax, qword ptr [rsp]
   2d7  vmovups ymm2, ymmword ptr [rax + 4*rcx]
   2dc  vaddps ymm1, ymm2, ymm0
   2e0  lea rcx, [rip - 0x327]
   2e7  mov rdx, r11
   2ea  neg rdx
   2ed  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   2f3  vpblendvb ymm2, ymm2, ymm1, ymm3
   2f9  mov ecx, esi
   2fb  and ecx, 0x3f
   2fe  mov rax, qword ptr [rsp]
   302  vmovups ymmword ptr [rax + 4*rcx], ymm2
.L6:
        ; next iteration
   307  mov rax, qword ptr [rdi + 0x10]
   30b  add r9, qword ptr [rax + 0x20]
   30f  add rbx, qword ptr [rax + 0x28]
   313  dec qword ptr [rsp + 0x18]
   318  jne .L1
        ; next iteration
   31e  mov rax, qword ptr [rdi + 0x10]
   322  mov rcx, qword ptr [rax]
   325  add qword ptr [rsp + 0x20], rcx
   32a  mov rcx, qword ptr [rax + 0x8]
   32e  add qword ptr [rsp + 0x28], rcx
   333  mov rcx, qword ptr [rax + 0x10]
   337  add qword ptr [rsp + 0x30], rcx
   33c  dec qword ptr [rsp + 0x10]
   341  jne .L0
        ; return
   347  vzeroupper
   34a  mov rsp, qword ptr [rsp + 0x8]
   34f  pop rbx
   350  ret
