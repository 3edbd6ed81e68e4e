        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
    13  vmovups ymm11, ymmword ptr [rip - 0x3b]
        ; enter a loop
    1b  mov rax, qword ptr [rdi + 0x8]
    1f  mov rax, qword ptr [rax]
    22  mov qword ptr [rsp + 0x8], rax
    27  mov rax, qword ptr [rdi]
    2a  mov rax, qword ptr [rax]
    2d  mov qword ptr [rsp + 0x18], rax
    32  mov rax, qword ptr [rdi]
    35  mov rax, qword ptr [rax + 0x8]
    39  mov qword ptr [rsp + 0x20], rax
.L0:
    3e  mov rax, qword ptr [rdi + 0x8]
    42  mov r8, qword ptr [rax + 0x10]
    46  xor esi, esi
    48  sub r8, 0x10
    4c  jb .L3
.L1:
        ; a strip of columns
    52  mov r9, qword ptr [rsp + 0x18]
    57  mov rbx, qword ptr [rsp + 0x20]
    5c  vmovups ymm15, ymmword ptr [r9 + 8*rsi]
    62  vmovups ymm14, ymmword ptr [r9 + 8*rsi + 0x20]
    69  vmovups ymm13, ymmword ptr [r9 + 8*rsi + 0x40]
    70  vmovups ymm12, ymmword ptr [r9 + 8*rsi + 0x60]
    77  mov rax, qword ptr [rdi + 0x8]
    7b  mov rax, qword ptr [rax + 0x8]
    7f  mov qword ptr [rsp + 0x10], rax
    84  nop word ptr [rax + rax]
    8d  nop word ptr [rax + rax]
    96  nop word ptr [rax + rax]
    9f  nop
.L2:
        ; %0 = load f64 $1
    a0  vmovups ymm0, ymmword ptr [rbx + 8*rsi]
        ; %1 = abs f64 %0
    a5  vpand ymm1, ymm0, ymm11
        ; accumulate f64 $0 maximum %1
    aa  vmaxpd ymm0, ymm15, ymm1
    ae  vcmpunordpd ymm2, ymm15, ymm15
    b4  vblendvpd ymm0, ymm0, ymm15, ymm2
    ba  vmovaps ymm15, ymm0
        ; %0 = load f64 $1
    be  vmovups ymm0, ymmword ptr [rbx + 8*rsi + 0x20]
        ; %1 = abs f64 %0
    c4  vpand ymm1, ymm0, ymm11
        ; accumulate f64 $0 maximum %1
    c9  vmaxpd ymm0, ymm14, ymm1
    cd  vcmpunordpd ymm2, ymm14, ymm14
    d3  vblendvpd ymm0, ymm0, ymm14, ymm2
    d9  vmovaps ymm14, ymm0
        ; %0 = load f64 $1
    dd  vmovups ymm0, ymmword ptr [rbx + 8*rsi + 0x40]
        ; %1 = abs f64 %0
    e3  vpand ymm1, ymm0, ymm11
        ; accumulate f64 $0 maximum %1
    e8  vmaxpd ymm0, ymm13, ymm1
    ec  vcmpunordpd ymm2, ymm13, ymm13
    f2  vblendvpd ymm0, ymm0, ymm13, ymm2
    f8  vmovaps ymm13, ymm0
        ; %0 = load f64 $1
    fc  vmovups ymm0, ymmword ptr [rbx + 8*rsi + 0x60]
        ; %1 = abs f64 %0
   102  vpand ymm1, ymm0, ymm11
        ; accumulate f64 $0 maximum %1
   107  vmaxpd ymm0, ymm12, ymm1
   10b  vcmpunordpd ymm2, ymm12, ymm12
   111  vblendvpd ymm0, ymm0, ymm12, ymm2
   117  vmovaps ymm12, ymm0
        ; next row
   11b  mov rax, qword ptr [rdi + 0x10]
   11f  add rbx, qword ptr [rax + 0x18]
   123  dec qword ptr [rsp + 0x10]
   128  jne .L2
        ; partial results
   12e  vmovups ymmword ptr [r9 + 8*rsi], ymm15
   134  vmovups ymmword ptr [r9 + 8*rsi + 0x20], ymm14
   13b  vmovups ymmword ptr [r9 + 8*rsi + 0x40], ymm13
   142  vmovups ymmword ptr [r9 + 8*rsi + 0x60], ymm12
   149  add rsi, 0x10
   14d  sub r8, 0x10
   151  jae .L1
.L3:
   157  add r8, 0x10
   15b  sub r8, 0x4
   15f  jb .L6
.L4:
        ; a strip of columns
   165  mov r9, qword ptr [rsp + 0x18]
   16a  mov rbx, qword ptr [rsp + 0x20]
   16f  vmovups ymm15, ymmword ptr [r9 + 8*rsi]
   175  mov rax, qword ptr [rdi + 0x8]
   179  mov rax, qword ptr [rax + 0x8]
   17d  mov qword ptr [rsp + 0x10], rax
   182  nop word ptr [rax + rax]
   18b  nop word ptr [rax + rax]
   194  nop word ptr [rax + rax]
   19d  nop dword ptr [rax]
.L5:
        ; %0 = load f64 $1
   1a0  vmovups ymm0, ymmword ptr [rbx + 8*rsi]
        ; %1 = abs f64 %0
   1a5  vpand ymm1, ymm0, ymm11
        ; accumulate f64 $0 maximum %1
   1aa  vmaxpd ymm0, ymm15, ymm1
   1ae  vcmpunordpd ymm2, ymm15, ymm15
   1b4  vblendvpd ymm0, ymm0, ymm15, ymm2
   1ba  vmovaps ymm15, ymm0
        ; next row
   1be  mov rax, qword ptr [rdi + 0x10]
   1c2  add rbx, qword ptr [rax + 0x18]
   1c6  dec qword ptr [rsp + 0x10]
   1cb  jne .L5
        ; partial results
   1cd  vmovups ymmword ptr [r9 + 8*rsi], ymm15
   1d3  add rsi, 0x4
   1d7  sub r8, 0x4
   1db  jae .L4
.L6:
   1dd  add r8, 0x4
   1e1  test r8, r8
   1e4  je .L8
        ; tail
   1ea  mov r11, r8
   1ed  mov r9, qword ptr [rsp + 0x18]
   1f2  mov rbx, qword ptr [rsp + 0x20]
   1f7  vmovups ymm15, ymmword ptr [r9 + 8*rsi]
   1fd  mov rax, qword ptr [rdi + 0x8]
   201  mov rax, qword ptr [rax + 0x8]
   205  mov qword ptr [rsp + 0x10], rax
   20a  nop word ptr [rax + rax]
   213  nop word ptr [rax + rax]
   21c  nop dword ptr [rax]
.L7:
        ; %0 = load f64 $1
   220  lea rcx, [rip - 0x2a7]
   227  mov rdx, r11
   22a  neg rdx
   22d  vmovups ymm1, ymmword ptr [rcx + 8*rdx + 0x20]
   233  vpmaskmovq ymm0, ymm1, ymmword ptr [rbx + 8*rsi]
        ; %1 = abs f64 %0
   239  vpand ymm1, ymm0, ymm11
        ; accumulate f64 $0 maximum %1
   23e  vmaxpd ymm0, ymm15, ymm1
   242  vcmpunordpd ymm2, ymm15, ymm15
   248  vblendvpd ymm0, ymm0, ymm15, ymm2
   24e  vmovaps ymm15, ymm0
        ; next row
   252  mov rax, qword ptr [rdi + 0x10]
   256  add rbx, qword ptr [rax + 0x18]
   25a  dec qword ptr [rsp + 0x10]
   25f  jne .L7
        ; partial results
   261  vmovups ymmword ptr [r9 + 8*rsi], ymm15
.L8:
        ; next iteration
   267  mov rax, qword ptr [rdi + 0x10]
   26b  mov rcx, qword ptr [rax]
   26e  add qword ptr [rsp + 0x18], rcx
   273  mov rcx, qword ptr [rax + 0x8]
   277  add qword ptr [rsp + 0x20], rcx
   27c  dec qword ptr [rsp + 0x8]
   281  jne .L0
        ; return
   287  vzeroupper
   28a  mov rsp, qword ptr [rsp]
   28e  pop rbx
   28f  ret
