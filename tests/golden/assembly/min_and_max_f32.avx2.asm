        ; entry
     0  mov rax, rsp
     3  sub rsp, 0x40
     a  and rsp, -0x40
     e  mov qword ptr [rsp + 0x10], rax
        ; enter a loop
    13  mov rax, qword ptr [rdi + 0x8]
    17  mov rax, qword ptr [rax]
    1a  mov qword ptr [rsp + 0x18], rax
    1f  mov rax, qword ptr [rdi]
    22  mov rax, qword ptr [rax]
    25  mov qword ptr [rsp + 0x28], rax
    2a  mov rax, qword ptr [rdi]
    2d  mov rax, qword ptr [rax + 0x8]
    31  mov qword ptr [rsp + 0x30], rax
    36  mov rax, qword ptr [rdi]
    39  mov rax, qword ptr [rax + 0x10]
    3d  mov qword ptr [rsp + 0x38], rax
.L0:
        ; enter a loop
    42  mov rax, qword ptr [rdi + 0x8]
    46  mov rax, qword ptr [rax + 0x8]
    4a  mov qword ptr [rsp + 0x20], rax
    4f  mov rax, qword ptr [rsp + 0x28]
    54  mov qword ptr [rsp], rax
    58  mov rax, qword ptr [rsp + 0x30]
    5d  mov qword ptr [rsp + 0x8], rax
    62  mov r9, qword ptr [rsp + 0x38]
.L1:
    67  mov rax, qword ptr [rdi + 0x8]
    6b  mov r8, qword ptr [rax + 0x10]
        ; start of a row
    6f  xor esi, esi
    71  sub r8, 0x40
    75  jb .L4
        ; partial results
    7b  mov rax, qword ptr [rsp]
    7f  vmovups ymm15, ymmword ptr [rax]
    83  mov rax, qword ptr [rsp]
    87  vmovups ymm14, ymmword ptr [rax + 0x20]
    8c  mov rax, qword ptr [rsp]
    90  vmovups ymm13, ymmword ptr [rax + 0x40]
    95  mov rax, qword ptr [rsp]
    99  vmovups ymm12, ymmword ptr [rax + 0x60]
    9e  mov rax, qword ptr [rsp + 0x8]
    a3  vmovups ymm11, ymmword ptr [rax]
    a7  mov rax, qword ptr [rsp + 0x8]
    ac  vmovups ymm10, ymmword ptr [rax + 0x20]
    b1  mov rax, qword ptr [rsp + 0x8]
    b6  vmovups ymm9, ymmword ptr [rax + 0x40]
    bb  mov rax, qword ptr [rsp + 0x8]
    c0  vmovups ymm8, ymmword ptr [rax + 0x60]
    c5  nop word ptr [rax + rax]
    ce  nop word ptr [rax + rax]
    d7  nop word ptr [rax + rax]
.L2:
        ; %0 = load f32 $2
    e0  vmovups ymm0, ymmword ptr [r9 + 4*rsi]
        ; accumulate f32 $0 minimum %0
    e6  vminps ymm1, ymm15, ymm0
    ea  vcmpunordps ymm2, ymm15, ymm15
    f0  vblendvps ymm1, ymm1, ymm15, ymm2
    f6  vmovaps ymm15, ymm1
        ; accumulate f32 $1 maximum %0
    fa  vmaxps ymm1, ymm11, ymm0
    fe  vcmpunordps ymm2, ymm11, ymm11
   104  vblendvps ymm1, ymm1, ymm11, ymm2
   10a  vmovaps ymm11, ymm1
        ; %0 = load f32 $2
   10e  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x20]
        ; accumulate f32 $0 minimum %0
   115  vminps ymm1, ymm14, ymm0
   119  vcmpunordps ymm2, ymm14, ymm14
   11f  vblendvps ymm1, ymm1, ymm14, ymm2
   125  vmovaps ymm14, ymm1
        ; accumulate f32 $1 maximum %0
   129  vmaxps ymm1, ymm10, ymm0
   12d  vcmpunordps ymm2, ymm10, ymm10
   133  vblendvps ymm1, ymm1, ymm10, ymm2
   139  vmovaps ymm10, ymm1
        ; %0 = load f32 $2
   13d  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x40]
        ; accumulate f32 $0 minimum %0
   144  vminps ymm1, ymm13, ymm0
   148  vcmpunordps ymm2, ymm13, ymm13
   14e  vblendvps ymm1, ymm1, ymm13, ymm2
   154  vmovaps ymm13, ymm1
        ; accumulate f32 $1 maximum %0
   158  vmaxps ymm1, ymm9, ymm0
   15c  vcmpunordps ymm2, ymm9, ymm9
   162  vblendvps ymm1, ymm1, ymm9, ymm2
   168  vmovaps ymm9, ymm1
        ; %0 = load f32 $2
   16c  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x60]
        ; accumulate f32 $0 minimum %0
   173  vminps ymm1, ymm12, ymm0
   177  vcmpunordps ymm2, ymm12, ymm12
   17d  vblendvps ymm1, ymm1, ymm12, ymm2
   183  vmovaps ymm12, ymm1
        ; accumulate f32 $1 maximum %0
   187  vmaxps ymm1, ymm8, ymm0
   18b  vcmpunordps ymm2, ymm8, ymm8
   191  vblendvps ymm1, ymm1, ymm8, ymm2
   197  vmovaps ymm8, ymm1
        ; addresses
   19b  add rsi, 0x40
   19f  sub r8, 0x40
   1a3  jae .L2
        ; partial results
   1a9  mov rax, qword ptr [rsp]
   1ad  vmovups ymmword ptr [rax], ymm15
   1b1  mov rax, qword ptr [rsp]
   1b5  vmovups ymmword ptr [rax + 0x20], ymm14
   1ba  mov rax, qword ptr [rsp]
   1be  vmovups ymmword ptr [rax + 0x40], ymm13
   1c3  mov rax, qword ptr [rsp]
   1c7  vmovups ymmword ptr [rax + 0x60], ymm12
   1cc  mov rax, qword ptr [rsp + 0x8]
   1d1  vmovups ymmword ptr [rax], ymm11
   1d5  mov rax, qword ptr [rsp + 0x8]
   1da  vmovups ymmword ptr [rax + 0x20], ymm10
   1df  mov rax, qword ptr [rsp + 0x8]
   1e4  vmovups ymmword ptr [rax + 0x40], ymm9
   1e9  mov rax, qword ptr [rsp + 0x8]
   1ee  vmovups ymmword ptr [rax + 0x60], ymm8
        ; the row again
   1f3  mov rax, qword ptr [rdi + 0x8]
   1f7  mov r8, qword ptr [rax + 0x10]
   1fb  sub r8, 0x40
   1ff  xor esi, esi
        ; partial results
   201  mov rax, qword ptr [rsp]
   205  vmovups ymm15, ymmword ptr [rax + 0x80]
   20d  mov rax, qword ptr [rsp]
   211  vmovups ymm14, ymmword ptr [rax + 0xa0]
   219  mov rax, qword ptr [rsp]
   21d  vmovups ymm13, ymmword ptr [rax + 0xc0]
   225  mov rax, qword ptr [rsp]
   229  vmovups ymm12, ymmword ptr [rax + 0xe0]
   231  mov rax, qword ptr [rsp + 0x8]
   236  vmovups ymm11, ymmword ptr [rax + 0x80]
   23e  mov rax, qword ptr [rsp + 0x8]
   243  vmovups ymm10, ymmword ptr [rax + 0xa0]
   24b  mov rax, qword ptr [rsp + 0x8]
   250  vmovups ymm9, ymmword ptr [rax + 0xc0]
   258  mov rax, qword ptr [rsp + 0x8]
   25d  vmovups ymm8, ymmword ptr [rax + 0xe0]
   265  nop word ptr [rax + rax]
   26e  nop word ptr [rax + rax]
   277  nop word ptr [rax + rax]
.L3:
        ; %0 = load f32 $2
   280  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x80]
        ; accumulate f32 $0 minimum %0
   28a  vminps ymm1, ymm15, ymm0
   28e  vcmpunordps ymm2, ymm15, ymm15
   294  vblendvps ymm1, ymm1, ymm15, ymm2
   29a  vmovaps ymm15, ymm1
        ; accumulate f32 $1 maximum %0
   29e  vmaxps ymm1, ymm11, ymm0
   2a2  vcmpunordps ymm2, ymm11, ymm11
   2a8  vblendvps ymm1, ymm1, ymm11, ymm2
   2ae  vmovaps ymm11, ymm1
        ; %0 = load f32 $2
   2b2  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xa0]
        ; accumulate f32 $0 minimum %0
   2bc  vminps ymm1, ymm14, ymm0
   2c0  vcmpunordps ymm2, ymm14, ymm14
   2c6  vblendvps ymm1, ymm1, ymm14, ymm2
   2cc  vmovaps ymm14, ymm1
        ; accumulate f32 $1 maximum %0
   2d0  vmaxps ymm1, ymm10, ymm0
   2d4  vcmpunordps ymm2, ymm10, ymm10
   2da  vblendvps ymm1, ymm1, ymm10, ymm2
   2e0  vmovaps ymm10, ymm1
        ; %0 = load f32 $2
   2e4  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xc0]
        ; accumulate f32 $0 minimum %0
   2ee  vminps ymm1, ymm13, ymm0
   2f2  vcmpunordps ymm2, ymm13, ymm13
   2f8  vblendvps ymm1, ymm1, ymm13, ymm2
   2fe  vmovaps ymm13, ymm1
        ; accumulate f32 $1 maximum %0
   302  vmaxps ymm1, ymm9, ymm0
   306  vcmpunordps ymm2, ymm9, ymm9
   30c  vblendvps ymm1, ymm1, ymm9, ymm2
   312  vmovaps ymm9, ymm1
        ; %0 = load f32 $2
   316  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xe0]
        ; accumulate f32 $0 minimum %0
   320  vminps ymm1, ymm12, ymm0
   324  vcmpunordps ymm2, ymm12, ymm12
   32a  vblendvps ymm1, ymm1, ymm12, ymm2
   330  vmovaps ymm12, ymm1
        ; accumulate f32 $1 maximum %0
   334  vmaxps ymm1, ymm8, ymm0
   338  vcmpunordps ymm2, ymm8, ymm8
   33e  vblendvps ymm1, ymm1, ymm8, ymm2
   344  vmovaps ymm8, ymm1
        ; addresses
   348  add rsi, 0x40
   34c  sub r8, 0x40
   350  jae .L3
        ; partial results
   356  mov rax, qword ptr [rsp]
   35a  vmovups ymmword ptr [rax + 0x80], ymm15
   362  mov rax, qword ptr [rsp]
   366  vmovups ymmword ptr [rax + 0xa0], ymm14
   36e  mov rax, qword ptr [rsp]
   372  vmovups ymmword ptr [rax + 0xc0], ymm13
   37a  mov rax, qword ptr [rsp]
   37e  vmovups ymmword ptr [rax + 0xe0], ymm12
   386  mov rax, qword ptr [rsp + 0x8]
   38b  vmovups ymmword ptr [rax + 0x80], ymm11
   393  mov rax, qword ptr [rsp + 0x8]
   398  vmovups ymmword ptr [rax + 0xa0], ymm10
   3a0  mov rax, qword ptr [rsp + 0x8]
   3a5  vmovups ymmword ptr [rax + 0xc0], ymm9
   3ad  mov rax, qword ptr [rsp + 0x8]
   3b2  vmovups ymmword ptr [rax + 0xe0], ymm8
.L4:
   3ba  add r8, 0x40
        ; vectors
   3be  sub r8, 0x8
   3c2  jb .L6
   3c8  nop word ptr [rax + rax]
   3d1  nop word ptr [rax + rax]
   3da  nop word ptr [rax + rax]
.L5:
        ; %0 = load f32 $2
   3e0  vmovups ymm0, ymmword ptr [r9 + 4*rsi]
        ; accumulate f32 $0 minimum %0
   3e6  mov ecx, esi
   3e8  and ecx, 0x3f
   3eb  mov rax, qword ptr [rsp]
   3ef  vmovups ymm2, ymmword ptr [rax + 4*rcx]
   3f4  vminps ymm1, ymm2, ymm0
   3f8  vcmpunordps ymm3, ymm2, ymm2
   3fd  vblendvps ymm1, ymm1, ymm2, ymm3
   403  mov ecx, esi
   405  and ecx, 0x3f
   408  mov rax, qword ptr [rsp]
   40c  vmovups ymmword ptr [rax + 4*rcx], ymm1
        ; accumulate f32 $1 maximum %0
   411  mov ecx, esi
   413  and ecx, 0x3f
   416  mov rax, qword ptr [rsp + 0x8]
   41b  vmovups ymm2, ymmword ptr [rax + 4*rcx]
   420  vmaxps ymm1, ymm2, ymm0
   424  vcmpunordps ymm3, ymm2, ymm2
   429  vblendvps ymm1, ymm1, ymm2, ymm3
   42f  mov ecx, esi
   431  and ecx, 0x3f
   434  mov rax, qword ptr [rsp + 0x8]
   439  vmovups ymmword ptr [rax + 4*rcx], ymm1
        ; addresses
   43e  add rsi, 0x8
   442  sub r8, 0x8
   446  jae .L5
.L6:
   448  add r8, 0x8
   44c  je .L7
        ; tail
   452  mov r11d, 0x8
   458  cmp r8, r11
   45b  cmovb r11, r8
        ; %0 = load f32 $2
   45f  lea rcx, [rip - 0x4a6]
   466  mov rdx, r11
   469  neg rdx
   46c  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   472  vpmaskmovd ymm0, ymm1, ymmword ptr [r9 + 4*rsi]
        ; accumulate f32 $0 minimum %0
   478  mov ecx, esi
   47a  and ecx, 0x3f
   47d  mov rax, qword ptr [rsp]
   481  vmovups ymm2, ymmword ptr [rax + 4*rcx]
   486  vminps ymm1, ymm2, ymm0
   48a  vcmpunordps ymm3, ymm2, ymm2
   48f  vblendvps ymm1, ymm1, ymm2, ymm3
   495  lea rcx, [rip - 0x4dc]
   49c  mov rdx, r11
   49f  neg rdx
   4a2  vmovups ymm4, ymmword ptr [rcx + 4*rdx + 0x20]
   4a8  vpblendvb ymm2, ymm2, ymm1, ymm4
   4ae  mov ecx, esi
   4b0  and ecx, 0x3f
   4b3  mov rax, qword ptr [rsp]
   4b7  vmovups ymmword ptr [rax + 4*rcx], ymm2
        ; accumulate f32 $1 maximum %0
   4bc  mov ecx, esi
   4be  and ecx, 0x3f
   4c1  mov rax, qword ptr [rsp + 0x8]
   4c6  vmovups ymm2, ymmword ptr [rax + 4*rcx]
   4cb  vmaxps ymm1, ymm2, ymm0
   4cf  vcmpunordps ymm3, ymm2, ymm2
   4d4  vblendvps ymm1, ymm1, ymm2, ymm3
   4da  lea rcx, [rip - 0x521]
   4e1  mov rdx, r11
   4e4  neg rdx
   4e7  vmovups ymm4, ymmword ptr [rcx + 4*rdx + 0x20]
   4ed  vpblendvb ymm2, ymm2, ymm1, ymm4
   4f3  mov ecx, esi
   4f5  and ecx, 0x3f
   4f8  mov rax, qword ptr [rsp + 0x8]
   4fd  vmovups ymmword ptr [rax + 4*rcx], ymm2
.L7:
        ; next iteration
   502  mov rax, qword ptr [rdi + 0x10]
   506  add r9, qword ptr [rax + 0x28]
   50a  dec qword ptr [rsp + 0x20]
   50f  jne .L1
        ; next iteration
   515  mov rax, qword ptr [rdi + 0x10]
   519  mov rcx, qword ptr [rax]
   51c  add qword ptr [rsp + 0x28], rcx
   521  mov rcx, qword ptr [rax + 0x8]
   525  add qword ptr [rsp + 0x30], rcx
   52a  mov rcx, qword ptr [rax + 0x10]
   52e  add qword ptr [rsp + 0x38], rcx
   533  dec qword ptr [rsp + 0x18]
   538  jne .L0
        ; return
   53e  vzeroupper
   541  mov rsp, qword ptr [rsp + 0x10]
   546  ret
