        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
        ; enter a loop
    13  mov rax, qword ptr [rdi + 0x8]
    17  mov rax, qword ptr [rax]
    1a  mov qword ptr [rsp + 0x8], rax
    1f  mov rax, qword ptr [rdi]
    22  mov rax, qword ptr [rax]
    25  mov qword ptr [rsp + 0x18], rax
    2a  mov rax, qword ptr [rdi]
    2d  mov rax, qword ptr [rax + 0x8]
    31  mov qword ptr [rsp + 0x20], rax
.L0:
    36  mov rax, qword ptr [rdi + 0x8]
    3a  mov r8, qword ptr [rax + 0x10]
    3e  xor esi, esi
    40  sub r8, 0x10
    44  jb .L3
.L1:
        ; a strip of columns
    4a  mov r9, qword ptr [rsp + 0x18]
    4f  mov rbx, qword ptr [rsp + 0x20]
    54  vmovups ymm15, ymmword ptr [r9 + 8*rsi]
    5a  vmovups ymm14, ymmword ptr [r9 + 8*rsi + 0x20]
    61  vmovups ymm13, ymmword ptr [r9 + 8*rsi + 0x40]
    68  vmovups ymm12, ymmword ptr [r9 + 8*rsi + 0x60]
    6f  mov rax, qword ptr [rdi + 0x8]
    73  mov rax, qword ptr [rax + 0x8]
    77  mov qword ptr [rsp + 0x10], rax
    7c  nop dword ptr [rax]
.L2:
        ; %0 = load f64 $1
    80  vmovups ymm0, ymmword ptr [rbx + 8*rsi]
        ; %1 = abs f64 %0
    85  vpand ymm1, ymm0, ymmword ptr [rip - 0xad]
        ; accumulate f64 $0 maximum %1
    8d  vmaxpd ymm0, ymm15, ymm1
    91  vcmpunordpd ymm2, ymm15, ymm15
    97  vblendvpd ymm0, ymm0, ymm15, ymm2
    9d  vmovaps ymm15, ymm0
        ; %0 = load f64 $1
    a1  vmovups ymm0, ymmword ptr [rbx + 8*rsi + 0x20]
        ; %1 = abs f64 %0
    a7  vpand ymm1, ymm0, ymmword ptr [rip - 0xcf]
        ; accumulate f64 $0 maximum %1
    af  vmaxpd ymm0, ymm14, ymm1
    b3  vcmpunordpd ymm2, ymm14, ymm14
    b9  vblendvpd ymm0, ymm0, ymm14, ymm2
    bf  vmovaps ymm14, ymm0
        ; %0 = load f64 $1
    c3  vmovups ymm0, ymmword ptr [rbx + 8*rsi + 0x40]
        ; %1 = abs f64 %0
    c9  vpand ymm1, ymm0, ymmword ptr [rip - 0xf1]
        ; accumulate f64 $0 maximum %1
    d1  vmaxpd ymm0, ymm13, ymm1
    d5  vcmpunordpd ymm2, ymm13, ymm13
    db  vblendvpd ymm0, ymm0, ymm13, ymm2
    e1  vmovaps ymm13, ymm0
        ; %0 = load f64 $1
    e5  vmovups ymm0, ymmword ptr [rbx + 8*rsi + 0x60]
        ; %1 = abs f64 %0
    eb  vpand ymm1, ymm0, ymmword ptr [rip - 0x113]
        ; accumulate f64 $0 maximum %1
    f3  vmaxpd ymm0, ymm12, ymm1
    f7  vcmpunordpd ymm2, ymm12, ymm12
    fd  vblendvpd ymm0, ymm0, ymm12, ymm2
   103  vmovaps ymm12, ymm0
        ; next row
   107  mov rax, qword ptr [rdi + 0x10]
   10b  add rbx, qword ptr [rax + 0x18]
   10f  dec qword ptr [rsp + 0x10]
   114  jne .L2
        ; partial results
   11a  vmovups ymmword ptr [r9 + 8*rsi], ymm15
   120  vmovups ymmword ptr [r9 + 8*rsi + 0x20], ymm14
   127  vmovups ymmword ptr [r9 + 8*rsi + 0x40], ymm13
   12e  vmovups ymmword ptr [r9 + 8*rsi + 0x60], ymm12
   135  add rsi, 0x10
   139  sub r8, 0x10
   13d  jae .L1
.L3:
   143  add r8, 0x10
   147  sub r8, 0x4
   14b  jb .L6
.L4:
        ; a strip of columns
   151  mov r9, qword ptr [rsp + 0x18]
   156  mov rbx, qword ptr [rsp + 0x20]
   15b  vmovups ymm15, ymmword ptr [r9 + 8*rsi]
   161  mov rax, qword ptr [rdi + 0x8]
   165  mov rax, qword ptr [rax + 0x8]
   169  mov qword ptr [rsp + 0x10], rax
   16e  nop word ptr [rax + rax]
   177  nop word ptr [rax + rax]
.L5:
        ; %0 = load f64 $1
   180  vmovups ymm0, ymmword ptr [rbx + 8*rsi]
        ; %1 = abs f64 %0
   185  vpand ymm1, ymm0, ymmword ptr [rip - 0x1ad]
        ; accumulate f64 $0 maximum %1
   18d  vmaxpd ymm0, ymm15, ymm1
   191  vcmpunordpd ymm2, ymm15, ymm15
   197  vblendvpd ymm0, ymm0, ymm15, ymm2
   19d  vmovaps ymm15, ymm0
        ; next row
   1a1  mov rax, qword ptr [rdi + 0x10]
   1a5  add rbx, qword ptr [rax + 0x18]
   1a9  dec qword ptr [rsp + 0x10]
   1ae  jne .L5
        ; partial results
   1b0  vmovups ymmword ptr [r9 + 8*rsi], ymm15
   1b6  add rsi, 0x4
   1ba  sub r8, 0x4
   1be  jae .L4
.L6:
   1c0  add r8, 0x4
   1c4  test r8, r8
   1c7  je .L8
        ; tail
   1cd  mov r11, r8
   1d0  mov r9, qword ptr [rsp + 0x18]
   1d5  mov rbx, qword ptr [rsp + 0x20]
   1da  vmovups ymm15, ymmword ptr [r9 + 8*rsi]
   1e0  mov rax, qword ptr [rdi + 0x8]
   1e4  mov rax, qword ptr [rax + 0x8]
   1e8  mov qword ptr [rsp + 0x10], rax
   1ed  nop word ptr [rax + rax]
   1f6  nop word ptr [rax + rax]
   1ff  nop
.L7:
        ; %0 = load f64 $1
   200  lea rcx, [rip - 0x287]
   207  mov rdx, r11
   20a  neg rdx
   20d  vmovups ymm1, ymmword ptr [rcx + 8*rdx + 0x20]
   213  vpmaskmovq ymm0, ymm1, ymmword ptr [rbx + 8*rsi]
        ; %1 = abs f64 %0
   219  vpand ymm1, ymm0, ymmword ptr [rip - 0x241]
        ; accumulate f64 $0 maximum %1
   221  vmaxpd ymm0, ymm15, ymm1
   225  vcmpunordpd ymm2, ymm15, ymm15
   22b  vblendvpd ymm0, ymm0, ymm15, ymm2
   231  vmovaps ymm15, ymm0
        ; next row
   235  mov rax, qword ptr [rdi + 0x10]
   239  add rbx, qword ptr [rax + 0x18]
   23d  dec qword ptr [rsp + 0x10]
   242  jne .L7
        ; partial results
   244  vmovups ymmword ptr [r9 + 8*rsi], ymm15
.L8:
        ; next iteration
   24a  mov rax, qword ptr [rdi + 0x10]
   24e  mov rcx, qword ptr [rax]
   251  add qword ptr [rsp + 0x18], rcx
   256  mov rcx, qword ptr [rax + 0x8]
   25a  add qword ptr [rsp + 0x20], rcx
   25f  dec qword ptr [rsp + 0x8]
   264  jne .L0
        ; return
   26a  vzeroupper
   26d  mov rsp, qword ptr [rsp]
   271  pop rbx
   272  ret
