        ; entry
     0  push rbx
     1  push rbp
     2  push r12
     4  mov rax, rsp
     7  sub rsp, 0x40
     e  and rsp, -0x40
    12  mov qword ptr [rsp], rax
        ; enter a loop
    16  mov rax, qword ptr [rdi + 0x8]
    1a  mov rax, qword ptr [rax]
    1d  mov qword ptr [rsp + 0x8], rax
    22  mov rax, qword ptr [rdi]
    25  mov rax, qword ptr [rax]
    28  mov qword ptr [rsp + 0x18], rax
    2d  mov rax, qword ptr [rdi]
    30  mov rax, qword ptr [rax + 0x8]
    34  mov qword ptr [rsp + 0x20], rax
    39  mov rax, qword ptr [rdi]
    3c  mov rax, qword ptr [rax + 0x10]
    40  mov qword ptr [rsp + 0x28], rax
.L0:
        ; enter a loop
    45  mov rax, qword ptr [rdi + 0x8]
    49  mov rax, qword ptr [rax + 0x8]
    4d  mov r12, rax
    50  mov rbx, qword ptr [rsp + 0x18]
    55  mov rbp, qword ptr [rsp + 0x20]
    5a  mov r9, qword ptr [rsp + 0x28]
.L1:
    5f  mov rax, qword ptr [rdi + 0x8]
    63  mov r8, qword ptr [rax + 0x10]
        ; start of a row
    67  xor esi, esi
    69  sub r8, 0x40
    6d  jb .L4
        ; partial results
    73  vmovups ymm15, ymmword ptr [rbx]
    77  vmovups ymm14, ymmword ptr [rbx + 0x20]
    7c  vmovups ymm13, ymmword ptr [rbx + 0x40]
    81  vmovups ymm12, ymmword ptr [rbx + 0x60]
    86  vmovups ymm11, ymmword ptr [rbp]
    8b  vmovups ymm10, ymmword ptr [rbp + 0x20]
    90  vmovups ymm9, ymmword ptr [rbp + 0x40]
    95  vmovups ymm8, ymmword ptr [rbp + 0x60]
    9a  nop word ptr [rax + rax]
.L2:
        ; %0 = load f32 $2
    a0  vmovups ymm0, ymmword ptr [r9 + 4*rsi]
        ; accumulate f32 $0 minimum %0
    a6  vminps ymm1, ymm15, ymm0
    aa  vcmpunordps ymm2, ymm15, ymm15
    b0  vblendvps ymm1, ymm1, ymm15, ymm2
    b6  vmovaps ymm15, ymm1
        ; accumulate f32 $1 maximum %0
    ba  vmaxps ymm1, ymm11, ymm0
    be  vcmpunordps ymm2, ymm11, ymm11
    c4  vblendvps ymm1, ymm1, ymm11, ymm2
    ca  vmovaps ymm11, ymm1
        ; %0 = load f32 $2
    ce  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x20]
        ; accumulate f32 $0 minimum %0
    d5  vminps ymm1, ymm14, ymm0
    d9  vcmpunordps ymm2, ymm14, ymm14
    df  vblendvps ymm1, ymm1, ymm14, ymm2
    e5  vmovaps ymm14, ymm1
        ; accumulate f32 $1 maximum %0
    e9  vmaxps ymm1, ymm10, ymm0
    ed  vcmpunordps ymm2, ymm10, ymm10
    f3  vblendvps ymm1, ymm1, ymm10, ymm2
    f9  vmovaps ymm10, ymm1
        ; %0 = load f32 $2
    fd  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x40]
        ; accumulate f32 $0 minimum %0
   104  vminps ymm1, ymm13, ymm0
   108  vcmpunordps ymm2, ymm13, ymm13
   10e  vblendvps ymm1, ymm1, ymm13, ymm2
   114  vmovaps ymm13, ymm1
        ; accumulate f32 $1 maximum %0
   118  vmaxps ymm1, ymm9, ymm0
   11c  vcmpunordps ymm2, ymm9, ymm9
   122  vblendvps ymm1, ymm1, ymm9, ymm2
   128  vmovaps ymm9, ymm1
        ; %0 = load f32 $2
   12c  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x60]
        ; accumulate f32 $0 minimum %0
   133  vminps ymm1, ymm12, ymm0
   137  vcmpunordps ymm2, ymm12, ymm12
   13d  vblendvps ymm1, ymm1, ymm12, ymm2
   143  vmovaps ymm12, ymm1
        ; accumulate f32 $1 maximum %0
   147  vmaxps ymm1, ymm8, ymm0
   14b  vcmpunordps ymm2, ymm8, ymm8
   151  vblendvps ymm1, ymm1, ymm8, ymm2
   157  vmovaps ymm8, ymm1
        ; addresses
   15b  add rsi, 0x40
   15f  sub r8, 0x40
   163  jae .L2
        ; partial results
   169  vmovups ymmword ptr [rbx], ymm15
   16d  vmovups ymmword ptr [rbx + 0x20], ymm14
   172  vmovups ymmword ptr [rbx + 0x40], ymm13
   177  vmovups ymmword ptr [rbx + 0x60], ymm12
   17c  vmovups ymmword ptr [rbp], ymm11
   181  vmovups ymmword ptr [rbp + 0x20], ymm10
   186  vmovups ymmword ptr [rbp + 0x40], ymm9
   18b  vmovups ymmword ptr [rbp + 0x60], ymm8
        ; the row again
   190  mov rax, qword ptr [rdi + 0x8]
   194  mov r8, qword ptr [rax + 0x10]
   198  sub r8, 0x40
   19c  xor esi, esi
        ; partial results
   19e  vmovups ymm15, ymmword ptr [rbx + 0x80]
   1a6  vmovups ymm14, ymmword ptr [rbx + 0xa0]
   1ae  vmovups ymm13, ymmword ptr [rbx + 0xc0]
   1b6  vmovups ymm12, ymmword ptr [rbx + 0xe0]
   1be  vmovups ymm11, ymmword ptr [rbp + 0x80]
   1c6  vmovups ymm10, ymmword ptr [rbp + 0xa0]
   1ce  vmovups ymm9, ymmword ptr [rbp + 0xc0]
   1d6  vmovups ymm8, ymmword ptr [rbp + 0xe0]
   1de  nop
.L3:
        ; %0 = load f32 $2
   1e0  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0x80]
        ; accumulate f32 $0 minimum %0
   1ea  vminps ymm1, ymm15, ymm0
   1ee  vcmpunordps ymm2, ymm15, ymm15
   1f4  vblendvps ymm1, ymm1, ymm15, ymm2
   1fa  vmovaps ymm15, ymm1
        ; accumulate f32 $1 maximum %0
   1fe  vmaxps ymm1, ymm11, ymm0
   202  vcmpunordps ymm2, ymm11, ymm11
   208  vblendvps ymm1, ymm1, ymm11, ymm2
   20e  vmovaps ymm11, ymm1
        ; %0 = load f32 $2
   212  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xa0]
        ; accumulate f32 $0 minimum %0
   21c  vminps ymm1, ymm14, ymm0
   220  vcmpunordps ymm2, ymm14, ymm14
   226  vblendvps ymm1, ymm1, ymm14, ymm2
   22c  vmovaps ymm14, ymm1
        ; accumulate f32 $1 maximum %0
   230  vmaxps ymm1, ymm10, ymm0
   234  vcmpunordps ymm2, ymm10, ymm10
   23a  vblendvps ymm1, ymm1, ymm10, ymm2
   240  vmovaps ymm10, ymm1
        ; %0 = load f32 $2
   244  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xc0]
        ; accumulate f32 $0 minimum %0
   24e  vminps ymm1, ymm13, ymm0
   252  vcmpunordps ymm2, ymm13, ymm13
   258  vblendvps ymm1, ymm1, ymm13, ymm2
   25e  vmovaps ymm13, ymm1
        ; accumulate f32 $1 maximum %0
   262  vmaxps ymm1, ymm9, ymm0
   266  vcmpunordps ymm2, ymm9, ymm9
   26c  vblendvps ymm1, ymm1, ymm9, ymm2
   272  vmovaps ymm9, ymm1
        ; %0 = load f32 $2
   276  vmovups ymm0, ymmword ptr [r9 + 4*rsi + 0xe0]
        ; accumulate f32 $0 minimum %0
   280  vminps ymm1, ymm12, ymm0
   284  vcmpunordps ymm2, ymm12, ymm12
   28a  vblendvps ymm1, ymm1, ymm12, ymm2
   290  vmovaps ymm12, ymm1
        ; accumulate f32 $1 maximum %0
   294  vmaxps ymm1, ymm8, ymm0
   298  vcmpunordps ymm2, ymm8, ymm8
   29e  vblendvps ymm1, ymm1, ymm8, ymm2
   2a4  vmovaps ymm8, ymm1
        ; addresses
   2a8  add rsi, 0x40
   2ac  sub r8, 0x40
   2b0  jae .L3
        ; partial results
   2b6  vmovups ymmword ptr [rbx + 0x80], ymm15
   2be  vmovups ymmword ptr [rbx + 0xa0], ymm14
   2c6  vmovups ymmword ptr [rbx + 0xc0], ymm13
   2ce  vmovups ymmword ptr [rbx + 0xe0], ymm12
   2d6  vmovups ymmword ptr [rbp + 0x80], ymm11
   2de  vmovups ymmword ptr [rbp + 0xa0], ymm10
   2e6  vmovups ymmword ptr [rbp + 0xc0], ymm9
   2ee  vmovups ymmword ptr [rbp + 0xe0], ymm8
.L4:
   2f6  add r8, 0x40
        ; vectors
   2fa  sub r8, 0x8
   2fe  jb .L6
   304  nop word ptr [rax + rax]
   30d  nop word ptr [rax + rax]
   316  nop word ptr [rax + rax]
   31f  nop
.L5:
        ; %0 = load f32 $2
   320  vmovups ymm0, ymmword ptr [r9 + 4*rsi]
        ; accumulate f32 $0 minimum %0
   326  mov ecx, esi
   328  and ecx, 0x3f
   32b  vmovups ymm2, ymmword ptr [rbx + 4*rcx]
   330  vminps ymm1, ymm2, ymm0
   334  vcmpunordps ymm3, ymm2, ymm2
   339  vblendvps ymm1, ymm1, ymm2, ymm3
   33f  mov ecx, esi
   341  and ecx, 0x3f
   344  vmovups ymmword ptr [rbx + 4*rcx], ymm1
        ; accumulate f32 $1 maximum %0
   349  mov ecx, esi
   34b  and ecx, 0x3f
   34e  vmovups ymm2, ymmword ptr [rbp + 4*rcx]
   354  vmaxps ymm1, ymm2, ymm0
   358  vcmpunordps ymm3, ymm2, ymm2
   35d  vblendvps ymm1, ymm1, ymm2, ymm3
   363  mov ecx, esi
   365  and ecx, 0x3f
   368  vmovups ymmword ptr [rbp + 4*rcx], ymm1
        ; addresses
   36e  add rsi, 0x8
   372  sub r8, 0x8
   376  jae .L5
.L6:
   378  add r8, 0x8
   37c  je .L7
        ; tail
   382  mov r11d, 0x8
   388  cmp r8, r11
   38b  cmovb r11, r8
        ; %0 = load f32 $2
   38f  lea rcx, [rip - 0x3d6]
   396  mov rdx, r11
   399  neg rdx
   39c  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   3a2  vpmaskmovd ymm0, ymm1, ymmword ptr [r9 + 4*rsi]
        ; accumulate f32 $0 minimum %0
   3a8  mov ecx, esi
   3aa  and ecx, 0x3f
   3ad  vmovups ymm2, ymmword ptr [rbx + 4*rcx]
   3b2  vminps ymm1, ymm2, ymm0
   3b6  vcmpunordps ymm3, ymm2, ymm2
   3bb  vblendvps ymm1, ymm1, ymm2, ymm3
   3c1  lea rcx, [rip - 0x408]
   3c8  mov rdx, r11
   3cb  neg rdx
   3ce  vmovups ymm4, ymmword ptr [rcx + 4*rdx + 0x20]
   3d4  vpblendvb ymm2, ymm2, ymm1, ymm4
   3da  mov ecx, esi
   3dc  and ecx, 0x3f
   3df  vmovups ymmword ptr [rbx + 4*rcx], ymm2
        ; accumulate f32 $1 maximum %0
   3e4  mov ecx, esi
   3e6  and ecx, 0x3f
   3e9  vmovups ymm2, ymmword ptr [rbp + 4*rcx]
   3ef  vmaxps ymm1, ymm2, ymm0
   3f3  vcmpunordps ymm3, ymm2, ymm2
   3f8  vblendvps ymm1, ymm1, ymm2, ymm3
   3fe  lea rcx, [rip - 0x445]
   405  mov rdx, r11
   408  neg rdx
   40b  vmovups ymm4, ymmword ptr [rcx + 4*rdx + 0x20]
   411  vpblendvb ymm2, ymm2, ymm1, ymm4
   417  mov ecx, esi
   419  and ecx, 0x3f
   41c  vmovups ymmword ptr [rbp + 4*rcx], ymm2
.L7:
        ; next iteration
   422  mov rax, qword ptr [rdi + 0x10]
   426  add r9, qword ptr [rax + 0x28]
   42a  dec r12
   42d  jne .L1
        ; next iteration
   433  mov rax, qword ptr [rdi + 0x10]
   437  mov rcx, qword ptr [rax]
   43a  add qword ptr [rsp + 0x18], rcx
   43f  mov rcx, qword ptr [rax + 0x8]
   443  add qword ptr [rsp + 0x20], rcx
   448  mov rcx, qword ptr [rax + 0x10]
   44c  add qword ptr [rsp + 0x28], rcx
   451  dec qword ptr [rsp + 0x8]
   456  jne .L0
        ; return
   45c  vzeroupper
   45f  mov rsp, qword ptr [rsp]
   463  pop r12
   465  pop rbp
   466  pop rbx
   467  ret
