        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
    13  mov rcx, qword ptr [rdi]
    16  mov r9, qword ptr [rcx]
    19  mov rbx, qword ptr [rcx + 0x8]
    1d  mov rax, qword ptr [rdi + 0x8]
    21  mov r8, qword ptr [rax]
        ; start of the innermost loop
    24  xor esi, esi
        ; head, up to where the output is aligned
    26  lea rcx, [r9 + 4*rsi]
    2a  neg rcx
    2d  and ecx, 0x1f
    30  shr ecx, 0x2
    33  mov r11, rcx
    36  cmp r11, r8
    39  cmova r11, r8
    3d  test r11, r11
    40  je .L0
        ; %0 = load u32 $1
    46  lea rcx, [rip - 0x8d]
    4d  mov rdx, r11
    50  neg rdx
    53  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
    59  vpmaskmovd ymm0, ymm1, ymmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
    5f  lea rcx, [rip - 0xa6]
    66  mov rdx, r11
    69  neg rdx
    6c  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
    72  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm1, ymm0
        ; addresses
    78  add rsi, r11
    7b  sub r8, r11
.L0:
    7e  xor ecx, ecx
    80  lea rdx, [r9 + 4*rsi]
    84  and edx, 0x1f
    87  or ecx, edx
    89  test ecx, ecx
    8b  jne .L8
    91  sub r8, 0x1000
    98  jb .L3
.L1:
        ; four pages in turn
    9e  mov r11d, 0x40
    a4  nop word ptr [rax + rax]
    ad  nop word ptr [rax + rax]
    b6  nop word ptr [rax + rax]
    bf  nop
.L2:
        ; %0 = load u32 $1
    c0  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
    c5  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
    cb  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x1000]
    d4  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x1020]
        ; store u32 $0 %0
    dd  vmovntps ymmword ptr [r9 + 4*rsi], ymm0
    e3  vmovntps ymmword ptr [r9 + 4*rsi + 0x20], ymm1
    ea  vmovntps ymmword ptr [r9 + 4*rsi + 0x1000], ymm2
    f4  vmovntps ymmword ptr [r9 + 4*rsi + 0x1020], ymm3
        ; %0 = load u32 $1
    fe  vmovups ymm0, ymmword ptr [rbx + 4*rsi + 0x2000]
   107  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x2020]
   110  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x3000]
   119  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x3020]
        ; store u32 $0 %0
   122  vmovntps ymmword ptr [r9 + 4*rsi + 0x2000], ymm0
   12c  vmovntps ymmword ptr [r9 + 4*rsi + 0x2020], ymm1
   136  vmovntps ymmword ptr [r9 + 4*rsi + 0x3000], ymm2
   140  vmovntps ymmword ptr [r9 + 4*rsi + 0x3020], ymm3
        ; addresses
   14a  add rsi, 0x10
   14e  dec r11d
   151  jne .L2
   157  add rsi, 0xc00
   15e  sub r8, 0x1000
   165  jae .L1
.L3:
   16b  add r8, 0x1000
        ; vectors, stored past the caches
   172  sub r8, 0x20
   176  jb .L5
   17c  add r8, rsi
   17f  nop
.L4:
        ; %0 = load u32 $1
   180  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
   185  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
   18b  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x40]
   191  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x60]
        ; store u32 $0 %0
   197  vmovntps ymmword ptr [r9 + 4*rsi], ymm0
   19d  vmovntps ymmword ptr [r9 + 4*rsi + 0x20], ymm1
   1a4  vmovntps ymmword ptr [r9 + 4*rsi + 0x40], ymm2
   1ab  vmovntps ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
   1b2  add rsi, 0x20
   1b6  cmp rsi, r8
   1b9  jbe .L4
   1bb  sub r8, rsi
.L5:
   1be  add r8, 0x18
   1c2  js .L7
   1c8  nop word ptr [rax + rax]
   1d1  nop word ptr [rax + rax]
   1da  nop word ptr [rax + rax]
.L6:
        ; %0 = load u32 $1
   1e0  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   1e5  vmovntps ymmword ptr [r9 + 4*rsi], ymm0
        ; addresses
   1eb  add rsi, 0x8
   1ef  sub r8, 0x8
   1f3  jae .L6
.L7:
   1f5  add r8, 0x8
.L8:
        ; vectors
   1f9  sub r8, 0x8
   1fd  jb .L10
   203  nop word ptr [rax + rax]
   20c  nop word ptr [rax + rax]
   215  nop word ptr [rax + rax]
   21e  nop
.L9:
        ; %0 = load u32 $1
   220  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   225  vmovups ymmword ptr [r9 + 4*rsi], ymm0
        ; addresses
   22b  add rsi, 0x8
   22f  sub r8, 0x8
   233  jae .L9
.L10:
   235  add r8, 0x8
   239  test r8, r8
   23c  je .L11
        ; tail
   242  mov r11d, 0x8
   248  cmp r8, r11
   24b  cmovb r11, r8
        ; %0 = load u32 $1
   24f  lea rcx, [rip - 0x296]
   256  mov rdx, r11
   259  neg rdx
   25c  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   262  vpmaskmovd ymm0, ymm1, ymmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   268  lea rcx, [rip - 0x2af]
   26f  mov rdx, r11
   272  neg rdx
   275  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   27b  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm1, ymm0
.L11:
        ; return
   281  vzeroupper
   284  mov rsp, qword ptr [rsp]
   288  pop rbx
   289  ret
