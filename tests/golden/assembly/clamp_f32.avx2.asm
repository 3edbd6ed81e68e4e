        ; entry
     0  push rbx
        ; %0 = param f32 #0
     1  mov rax, qword ptr [rdi + 0x18]
     5  vpbroadcastd ymm0, dword ptr [rax]
        ; %1 = param f32 #1
     a  mov rax, qword ptr [rdi + 0x18]
     e  vpbroadcastd ymm1, dword ptr [rax + 0x10]
    14  mov rcx, qword ptr [rdi]
    17  mov r9, qword ptr [rcx]
    1a  mov rbx, qword ptr [rcx + 0x8]
    1e  mov rax, qword ptr [rdi + 0x8]
    22  mov r8, qword ptr [rax]
        ; start of the innermost loop
    25  xor esi, esi
        ; vectors
    27  sub r8, 0x20
    2b  jb .L1
    31  nop word ptr [rax + rax]
    3a  nop word ptr [rax + rax]
.L0:
        ; %2 = load f32 $1
    40  vmovups ymm2, ymmword ptr [rbx + 4*rsi]
    45  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x20]
    4b  vmovups ymm4, ymmword ptr [rbx + 4*rsi + 0x40]
    51  vmovups ymm5, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %3 = maximum f32 %0, %2
    57  vmaxps ymm6, ymm0, ymm2
    5b  vcmpunordps ymm7, ymm0, ymm0
    60  vblendvps ymm6, ymm6, ymm0, ymm7
    66  vmaxps ymm2, ymm0, ymm3
    6a  vcmpunordps ymm7, ymm0, ymm0
    6f  vblendvps ymm2, ymm2, ymm0, ymm7
    75  vmaxps ymm3, ymm0, ymm4
    79  vcmpunordps ymm7, ymm0, ymm0
    7e  vblendvps ymm3, ymm3, ymm0, ymm7
    84  vmaxps ymm4, ymm0, ymm5
    88  vcmpunordps ymm7, ymm0, ymm0
    8d  vblendvps ymm4, ymm4, ymm0, ymm7
        ; %4 = minimum f32 %1, %3
    93  vminps ymm5, ymm1, ymm6
    97  vcmpunordps ymm7, ymm1, ymm1
    9c  vblendvps ymm5, ymm5, ymm1, ymm7
    a2  vminps ymm6, ymm1, ymm2
    a6  vcmpunordps ymm7, ymm1, ymm1
    ab  vblendvps ymm6, ymm6, ymm1, ymm7
    b1  vminps ymm2, ymm1, ymm3
    b5  vcmpunordps ymm7, ymm1, ymm1
    ba  vblendvps ymm2, ymm2, ymm1, ymm7
    c0  vminps ymm3, ymm1, ymm4
    c4  vcmpunordps ymm7, ymm1, ymm1
    c9  vblendvps ymm3, ymm3, ymm1, ymm7
        ; store f32 $0 %4
    cf  vmovups ymmword ptr [r9 + 4*rsi], ymm5
    d5  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm6
    dc  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm2
    e3  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
    ea  add rsi, 0x20
    ee  sub r8, 0x20
    f2  jae .L0
.L1:
    f8  add r8, 0x18
    fc  js .L3
   102  nop word ptr [rax + rax]
   10b  nop word ptr [rax + rax]
   114  nop word ptr [rax + rax]
   11d  nop dword ptr [rax]
.L2:
        ; %2 = load f32 $1
   120  vmovups ymm2, ymmword ptr [rbx + 4*rsi]
        ; %3 = maximum f32 %0, %2
   125  vmaxps ymm3, ymm0, ymm2
   129  vcmpunordps ymm4, ymm0, ymm0
   12e  vblendvps ymm3, ymm3, ymm0, ymm4
        ; %4 = minimum f32 %1, %3
   134  vminps ymm2, ymm1, ymm3
   138  vcmpunordps ymm4, ymm1, ymm1
   13d  vblendvps ymm2, ymm2, ymm1, ymm4
        ; store f32 $0 %4
   143  vmovups ymmword ptr [r9 + 4*rsi], ymm2
        ; addresses
   149  add rsi, 0x8
   14d  sub r8, 0x8
   151  jae .L2
.L3:
   153  add r8, 0x8
   157  je .L4
        ; tail
   15d  mov r11d, 0x8
   163  cmp r8, r11
   166  cmovb r11, r8
        ; %2 = load f32 $1
   16a  lea rcx, [rip - 0x1b1]
   171  mov rdx, r11
   174  neg rdx
   177  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   17d  vpmaskmovd ymm2, ymm3, ymmword ptr [rbx + 4*rsi]
        ; %3 = maximum f32 %0, %2
   183  vmaxps ymm3, ymm0, ymm2
   187  vcmpunordps ymm4, ymm0, ymm0
   18c  vblendvps ymm3, ymm3, ymm0, ymm4
        ; %4 = minimum f32 %1, %3
   192  vminps ymm2, ymm1, ymm3
   196  vcmpunordps ymm4, ymm1, ymm1
   19b  vblendvps ymm2, ymm2, ymm1, ymm4
        ; store f32 $0 %4
   1a1  lea rcx, [rip - 0x1e8]
   1a8  mov rdx, r11
   1ab  neg rdx
   1ae  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   1b4  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm3, ymm2
.L4:
        ; return
   1ba  vzeroupper
   1bd  pop rbx
   1be  ret
