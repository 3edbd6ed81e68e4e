        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
    13  mov rcx, qword ptr [rdi]
    16  mov r9, qword ptr [rcx]
    19  mov rbx, qword ptr [rcx + 0x8]
    1d  mov rax, qword ptr [rdi + 0x8]
    21  mov r8, qword ptr [rax]
        ; start of the innermost loop
    24  xor esi, esi
        ; vectors
    26  sub r8, 0x20
    2a  jb .L1
    30  nop word ptr [rax + rax]
    39  nop dword ptr [rax]
.L0:
        ; %0 = load f32 $1
    40  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
    45  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
    4b  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x40]
    51  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %1 = cast f16 %0
    57  vcvtps2ph xmm4, ymm0, 0x0
    5d  vcvtps2ph xmm0, ymm1, 0x0
    63  vcvtps2ph xmm1, ymm2, 0x0
    69  vcvtps2ph xmm2, ymm3, 0x0
        ; store f16 $0 %1
    6f  vmovups xmmword ptr [r9 + 2*rsi], xmm4
    75  vmovups xmmword ptr [r9 + 2*rsi + 0x10], xmm0
    7c  vmovups xmmword ptr [r9 + 2*rsi + 0x20], xmm1
    83  vmovups xmmword ptr [r9 + 2*rsi + 0x30], xmm2
        ; addresses
    8a  add rsi, 0x20
    8e  sub r8, 0x20
    92  jae .L0
.L1:
    94  add r8, 0x18
    98  js .L3
    9e  nop
.L2:
        ; %0 = load f32 $1
    a0  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
        ; %1 = cast f16 %0
    a5  vcvtps2ph xmm1, ymm0, 0x0
        ; store f16 $0 %1
    ab  vmovups xmmword ptr [r9 + 2*rsi], xmm1
        ; addresses
    b1  add rsi, 0x8
    b5  sub r8, 0x8
    b9  jae .L2
.L3:
    bb  add r8, 0x8
    bf  je .L7
        ; tail
    c5  mov r11d, 0x8
    cb  cmp r8, r11
    ce  cmovb r11, r8
        ; %0 = load f32 $1
    d2  lea rcx, [rip - 0x119]
    d9  mov rdx, r11
    dc  neg rdx
    df  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
    e5  vpmaskmovd ymm0, ymm1, ymmword ptr [rbx + 4*rsi]
        ; %1 = cast f16 %0
    eb  vcvtps2ph xmm1, ymm0, 0x0
        ; store f16 $0 %1
    f1  vmovups xmmword ptr [rsp + 0x40], xmm1
    f7  lea rdx, [r9 + 2*rsi]
    fb  lea rax, [rsp + 0x40]
   100  xor ecx, ecx
   102  test r11d, 0x8
   109  je .L4
   10f  vmovups xmm0, xmmword ptr [rax + rcx]
   114  vmovups xmmword ptr [rdx + rcx], xmm0
   119  add rcx, 0x10
.L4:
   11d  test r11d, 0x4
   124  je .L5
   12a  mov r10, qword ptr [rax + rcx]
   12e  mov qword ptr [rdx + rcx], r10
   132  add rcx, 0x8
.L5:
   136  test r11d, 0x2
   13d  je .L6
   143  mov r10d, dword ptr [rax + rcx]
   147  mov dword ptr [rdx + rcx], r10d
   14b  add rcx, 0x4
.L6:
   14f  test r11d, 0x1
   156  je .L7
   15c  mov r10w, word ptr [rax + rcx]
   161  mov word ptr [rdx + rcx], r10w
   166  add rcx, 0x2
.L7:
        ; return
   16a  vzeroupper
   16d  mov rsp, qword ptr [rsp]
   171  pop rbx
   172  ret
