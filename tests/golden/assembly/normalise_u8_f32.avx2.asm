        ; entry
     0  push rbx
     1  push rbp
     2  push r12
     4  push r13
     6  push r14
     8  mov rax, rsp
     b  sub rsp, 0xc0
    12  and rsp, -0x40
    16  mov qword ptr [rsp + 0xa8], rax
        ; %0 = param f32 #0
    1e  mov rax, qword ptr [rdi + 0x18]
    22  vpbroadcastd ymm0, dword ptr [rax]
    27  mov rax, qword ptr [rdi + 0x8]
    2b  cmp qword ptr [rax + 0x8], 0x24
    30  jb .L0
    36  vmovups ymm15, ymmword ptr [rip - 0x5e]
    3e  vdivps ymm15, ymm15, ymm0
    42  vpsubd ymm1, ymm0, ymmword ptr [rip - 0x8a]
    4a  vpxor ymm1, ymm1, ymmword ptr [rip - 0xb2]
    52  vpcmpgtd ymm1, ymm1, ymmword ptr [rip - 0xda]
    5a  vmovmskps eax, ymm1
    5e  mov dword ptr [rsp], eax
    61  mov dword ptr [rsp + 0x60], 0x1
    69  mov rax, qword ptr [rdi + 0x8]
    6d  cmp qword ptr [rax + 0x8], 0x200
    75  jb .L0
    7b  vmovups ymm1, ymmword ptr [rip - 0xa3]
    83  vfnmadd231ps ymm1, ymm0, ymm15
    88  vdivps ymm1, ymm1, ymm0
    8c  vmovups ymmword ptr [rsp + 0x40], ymm1
    92  vpand xmm3, xmm0, xmmword ptr [rip - 0x12a]
    9a  vpor xmm3, xmm3, xmmword ptr [rip - 0x142]
    a2  vpaddd xmm2, xmm3, xmm3
    a6  vpaddd xmm2, xmm2, xmm3
    aa  vpxor xmm2, xmm2, xmmword ptr [rip - 0x162]
    b2  vpxor xmm1, xmm1, xmm1
    b6  vpsubd xmm1, xmm1, xmm3
    ba  vpmulld xmm3, xmm1, xmm2
    bf  vpaddd xmm3, xmm3, xmmword ptr [rip - 0x177]
    c7  vpmulld xmm2, xmm2, xmm3
    cc  vpmulld xmm3, xmm1, xmm2
    d1  vpaddd xmm3, xmm3, xmmword ptr [rip - 0x189]
    d9  vpmulld xmm2, xmm2, xmm3
    de  vpmulld xmm3, xmm1, xmm2
    e3  vpaddd xmm3, xmm3, xmmword ptr [rip - 0x19b]
    eb  vpmulld xmm2, xmm2, xmm3
    f0  vpand xmm2, xmm2, xmmword ptr [rip - 0x1b8]
    f8  vmovaps xmm3, xmmword ptr [rip - 0x1d0]
   100  vpsubd xmm3, xmm3, xmm2
   104  vpmaxud xmm3, xmm3, xmm2
   109  vpsrld xmm3, xmm3, 0x1
   10e  vcvtdq2ps xmm3, xmm3
   112  vpand xmm1, xmm0, xmmword ptr [rip - 0x1aa]
   11a  vpor xmm1, xmm1, xmmword ptr [rip - 0x202]
   122  vaddps xmm2, xmm1, xmm1
   126  vfmadd213ps xmm3, xmm2, xmm1
   12b  vmulps xmm1, xmm3, xmmword ptr [rsp + 0x40]
   131  vfmadd231ps xmm1, xmm3, xmm15
   136  vdivps xmm2, xmm3, xmm0
   13a  vpxor xmm2, xmm2, xmm1
   13e  vmovd eax, xmm2
   142  mov dword ptr [rsp + 0x60], eax
.L0:
        ; enter a loop
   146  mov rax, qword ptr [rdi + 0x8]
   14a  mov rax, qword ptr [rax]
   14d  mov r14, rax
   150  mov rcx, qword ptr [rdi]
   153  mov r9, qword ptr [rcx]
   156  mov rbp, qword ptr [rcx + 0x8]
   15a  mov r12, qword ptr [rcx + 0x10]
   15e  mov r13, qword ptr [rcx + 0x18]
.L1:
   162  mov rax, qword ptr [rdi + 0x8]
   166  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
   16a  mov rbx, rbp
   16d  xor esi, esi
        ; %1 = load f32 $2
   16f  vpbroadcastd ymm1, dword ptr [r12]
   175  mov rax, qword ptr [rdi + 0x8]
   179  cmp qword ptr [rax + 0x8], 0x24
   17e  jb .L2
   184  vpaddd ymm2, ymm1, ymm1
   188  vpxor xmm3, xmm3, xmm3
   18c  vpcmpeqd ymm3, ymm3, ymm2
   190  vpsubd ymm2, ymm2, ymmword ptr [rip - 0x298]
   198  vpxor ymm2, ymm2, ymmword ptr [rip - 0x200]
   1a0  vpcmpgtd ymm2, ymm2, ymmword ptr [rip - 0x2c8]
   1a8  vpandn ymm2, ymm3, ymm2
   1ac  vmovmskps eax, ymm2
   1b0  or eax, dword ptr [rsp]
   1b3  mov dword ptr [rsp + 0x8], eax
.L2:
        ; %2 = load f32 $3
   1b7  vpbroadcastd ymm2, dword ptr [r13]
   1bd  mov rax, qword ptr [rdi + 0x8]
   1c1  cmp qword ptr [rax + 0x8], 0x24
   1c6  jb .L3
   1cc  vmovups ymm14, ymmword ptr [rip - 0x1f4]
   1d4  vdivps ymm14, ymm14, ymm2
   1d8  vpsubd ymm3, ymm2, ymmword ptr [rip - 0x220]
   1e0  vpxor ymm3, ymm3, ymmword ptr [rip - 0x248]
   1e8  vpcmpgtd ymm3, ymm3, ymmword ptr [rip - 0x270]
   1f0  vmovmskps eax, ymm3
   1f4  mov dword ptr [rsp + 0x4], eax
   1f8  mov dword ptr [rsp + 0xa0], 0x1
   203  mov rax, qword ptr [rdi + 0x8]
   207  cmp qword ptr [rax + 0x8], 0x200
   20f  jb .L3
   215  vmovups ymm3, ymmword ptr [rip - 0x23d]
   21d  vfnmadd231ps ymm3, ymm2, ymm14
   222  vdivps ymm3, ymm3, ymm2
   226  vmovups ymmword ptr [rsp + 0x80], ymm3
   22f  vpand xmm5, xmm2, xmmword ptr [rip - 0x2c7]
   237  vpor xmm5, xmm5, xmmword ptr [rip - 0x2df]
   23f  vpaddd xmm4, xmm5, xmm5
   243  vpaddd xmm4, xmm4, xmm5
   247  vpxor xmm4, xmm4, xmmword ptr [rip - 0x2ff]
   24f  vpxor xmm3, xmm3, xmm3
   253  vpsubd xmm3, xmm3, xmm5
   257  vpmulld xmm5, xmm3, xmm4
   25c  vpaddd xmm5, xmm5, xmmword ptr [rip - 0x314]
   264  vpmulld xmm4, xmm4, xmm5
   269  vpmulld xmm5, xmm3, xmm4
   26e  vpaddd xmm5, xmm5, xmmword ptr [rip - 0x326]
   276  vpmulld xmm4, xmm4, xmm5
   27b  vpmulld xmm5, xmm3, xmm4
   280  vpaddd xmm5, xmm5, xmmword ptr [rip - 0x338]
   288  vpmulld xmm4, xmm4, xmm5
   28d  vpand xmm4, xmm4, xmmword ptr [rip - 0x355]
   295  vmovaps xmm5, xmmword ptr [rip - 0x36d]
   29d  vpsubd xmm5, xmm5, xmm4
   2a1  vpmaxud xmm5, xmm5, xmm4
   2a6  vpsrld xmm5, xmm5, 0x1
   2ab  vcvtdq2ps xmm5, xmm5
   2af  vpand xmm3, xmm2, xmmword ptr [rip - 0x347]
   2b7  vpor xmm3, xmm3, xmmword ptr [rip - 0x39f]
   2bf  vaddps xmm4, xmm3, xmm3
   2c3  vfmadd213ps xmm5, xmm4, xmm3
   2c8  vmulps xmm3, xmm5, xmmword ptr [rsp + 0x80]
   2d1  vfmadd231ps xmm3, xmm5, xmm14
   2d6  vdivps xmm4, xmm5, xmm2
   2da  vpxor xmm4, xmm4, xmm3
   2de  vmovd eax, xmm4
   2e2  mov dword ptr [rsp + 0xa0], eax
.L3:
        ; vectors
   2e9  sub r8, 0x24
   2ed  jb .L7
   2f3  mov eax, dword ptr [rsp]
   2f6  or eax, dword ptr [rsp + 0x4]
   2fa  or eax, dword ptr [rsp + 0x8]
   2fe  test eax, eax
   300  jne .L7
   306  mov eax, dword ptr [rsp + 0x60]
   30a  or eax, dword ptr [rsp + 0xa0]
   311  test eax, eax
   313  jne .L5
   319  nop dword ptr [rax]
.L4:
        ; %3 = load u8 $1
   320  vmovups xmm3, xmmword ptr [rbx]
   324  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x45d]
   32d  vmovups xmm4, xmmword ptr [rbx + 0x10]
   332  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x47b]
   33b  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   33f  vpmovzxbd ymm5, xmm3
   344  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   348  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x40]
   34e  vfmadd231ps ymm3, ymm4, ymm15
        ; %6 = sub f32 %5, %1
   353  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   357  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x80]
   360  vfmadd231ps ymm3, ymm4, ymm14
        ; store f32 $0 %7
   365  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; %3 = load u8 $1
   36b  vmovups xmm3, xmmword ptr [rbx + 0x18]
   370  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x4a9]
   379  vmovups xmm4, xmmword ptr [rbx + 0x28]
   37e  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x4c7]
   387  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   38b  vpmovzxbd ymm5, xmm3
   390  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   394  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x40]
   39a  vfmadd231ps ymm3, ymm4, ymm15
        ; %6 = sub f32 %5, %1
   39f  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   3a3  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x80]
   3ac  vfmadd231ps ymm3, ymm4, ymm14
        ; store f32 $0 %7
   3b1  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm3
        ; %3 = load u8 $1
   3b8  vmovups xmm3, xmmword ptr [rbx + 0x30]
   3bd  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x4f6]
   3c6  vmovups xmm4, xmmword ptr [rbx + 0x40]
   3cb  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x514]
   3d4  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   3d8  vpmovzxbd ymm5, xmm3
   3dd  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   3e1  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x40]
   3e7  vfmadd231ps ymm3, ymm4, ymm15
        ; %6 = sub f32 %5, %1
   3ec  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   3f0  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x80]
   3f9  vfmadd231ps ymm3, ymm4, ymm14
        ; store f32 $0 %7
   3fe  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm3
        ; %3 = load u8 $1
   405  vmovups xmm3, xmmword ptr [rbx + 0x48]
   40a  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x543]
   413  vmovups xmm4, xmmword ptr [rbx + 0x58]
   418  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x561]
   421  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   425  vpmovzxbd ymm5, xmm3
   42a  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   42e  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x40]
   434  vfmadd231ps ymm3, ymm4, ymm15
        ; %6 = sub f32 %5, %1
   439  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   43d  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x80]
   446  vfmadd231ps ymm3, ymm4, ymm14
        ; store f32 $0 %7
   44b  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
   452  add rsi, 0x20
   456  add rbx, 0x60
   45a  sub r8, 0x20
   45e  jae .L4
   464  jmp .L7
.L5:
   469  nop word ptr [rax + rax]
   472  nop word ptr [rax + rax]
   47b  nop dword ptr [rax + rax]
.L6:
        ; %3 = load u8 $1
   480  vmovups xmm3, xmmword ptr [rbx]
   484  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x5bd]
   48d  vmovups xmm4, xmmword ptr [rbx + 0x10]
   492  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x5db]
   49b  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   49f  vpmovzxbd ymm5, xmm3
   4a4  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   4a8  vmulps ymm3, ymm4, ymm15
   4ad  vmovaps ymm5, ymm3
   4b1  vfmsub213ps ymm5, ymm0, ymm4
   4b6  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   4bb  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   4bf  vmulps ymm3, ymm4, ymm14
   4c4  vmovaps ymm5, ymm3
   4c8  vfmsub213ps ymm5, ymm2, ymm4
   4cd  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   4d2  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; %3 = load u8 $1
   4d8  vmovups xmm3, xmmword ptr [rbx + 0x18]
   4dd  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x616]
   4e6  vmovups xmm4, xmmword ptr [rbx + 0x28]
   4eb  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x634]
   4f4  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   4f8  vpmovzxbd ymm5, xmm3
   4fd  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   501  vmulps ymm3, ymm4, ymm15
   506  vmovaps ymm5, ymm3
   50a  vfmsub213ps ymm5, ymm0, ymm4
   50f  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   514  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   518  vmulps ymm3, ymm4, ymm14
   51d  vmovaps ymm5, ymm3
   521  vfmsub213ps ymm5, ymm2, ymm4
   526  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   52b  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm3
        ; %3 = load u8 $1
   532  vmovups xmm3, xmmword ptr [rbx + 0x30]
   537  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x670]
   540  vmovups xmm4, xmmword ptr [rbx + 0x40]
   545  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x68e]
   54e  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   552  vpmovzxbd ymm5, xmm3
   557  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   55b  vmulps ymm3, ymm4, ymm15
   560  vmovaps ymm5, ymm3
   564  vfmsub213ps ymm5, ymm0, ymm4
   569  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   56e  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   572  vmulps ymm3, ymm4, ymm14
   577  vmovaps ymm5, ymm3
   57b  vfmsub213ps ymm5, ymm2, ymm4
   580  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   585  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm3
        ; %3 = load u8 $1
   58c  vmovups xmm3, xmmword ptr [rbx + 0x48]
   591  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x6ca]
   59a  vmovups xmm4, xmmword ptr [rbx + 0x58]
   59f  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x6e8]
   5a8  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   5ac  vpmovzxbd ymm5, xmm3
   5b1  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   5b5  vmulps ymm3, ymm4, ymm15
   5ba  vmovaps ymm5, ymm3
   5be  vfmsub213ps ymm5, ymm0, ymm4
   5c3  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   5c8  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   5cc  vmulps ymm3, ymm4, ymm14
   5d1  vmovaps ymm5, ymm3
   5d5  vfmsub213ps ymm5, ymm2, ymm4
   5da  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   5df  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
   5e6  add rsi, 0x20
   5ea  add rbx, 0x60
   5ee  sub r8, 0x20
   5f2  jae .L6
.L7:
   5f8  add r8, 0x18
   5fc  js .L9
   602  nop word ptr [rax + rax]
   60b  nop word ptr [rax + rax]
   614  nop word ptr [rax + rax]
   61d  nop dword ptr [rax]
.L8:
        ; %3 = load u8 $1
   620  vmovups xmm3, xmmword ptr [rbx]
   624  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x75d]
   62d  vmovups xmm4, xmmword ptr [rbx + 0x10]
   632  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x77b]
   63b  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   63f  vpmovzxbd ymm5, xmm3
   644  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   648  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   64c  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   650  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   654  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; addresses
   65a  add rsi, 0x8
   65e  add rbx, 0x18
   662  sub r8, 0x8
   666  jae .L8
.L9:
   668  add r8, 0xc
   66c  je .L12
.L10:
        ; tail
   672  mov r11d, 0x8
   678  cmp r8, r11
   67b  cmovb r11, r8
        ; %3 = load u8 $1
   67f  vpxor xmm3, xmm3, xmm3
   683  vpinsrb xmm3, xmm3, byte ptr [rbx], 0x0
   689  cmp r11, 0x1
   68d  jbe .L11
   693  vpinsrb xmm3, xmm3, byte ptr [rbx + 0x3], 0x1
   69a  cmp r11, 0x2
   69e  jbe .L11
   6a4  vpinsrb xmm3, xmm3, byte ptr [rbx + 0x6], 0x2
   6ab  cmp r11, 0x3
   6af  jbe .L11
   6b5  vpinsrb xmm3, xmm3, byte ptr [rbx + 0x9], 0x3
   6bc  cmp r11, 0x4
   6c0  jbe .L11
   6c6  vpinsrb xmm3, xmm3, byte ptr [rbx + 0xc], 0x4
   6cd  cmp r11, 0x5
   6d1  jbe .L11
   6d7  vpinsrb xmm3, xmm3, byte ptr [rbx + 0xf], 0x5
   6de  cmp r11, 0x6
   6e2  jbe .L11
   6e8  vpinsrb xmm3, xmm3, byte ptr [rbx + 0x12], 0x6
   6ef  cmp r11, 0x7
   6f3  jbe .L11
   6f9  vpinsrb xmm3, xmm3, byte ptr [rbx + 0x15], 0x7
.L11:
        ; %4 = cast f32 %3
   700  vpmovzxbd ymm5, xmm3
   705  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   709  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   70d  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   711  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   715  lea rcx, [rip - 0x89c]
   71c  mov rdx, r11
   71f  neg rdx
   722  vmovups ymm4, ymmword ptr [rcx + 4*rdx + 0x20]
   728  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm4, ymm3
        ; addresses
   72e  add rsi, 0x8
   732  add rbx, 0x18
   736  sub r8, 0x8
   73a  ja .L10
.L12:
        ; next iteration
   740  mov rax, qword ptr [rdi + 0x10]
   744  add r9, qword ptr [rax]
   747  add rbp, qword ptr [rax + 0x8]
   74b  add r12, qword ptr [rax + 0x10]
   74f  add r13, qword ptr [rax + 0x18]
   753  dec r14
   756  jne .L1
        ; return
   75c  vzeroupper
   75f  mov rsp, qword ptr [rsp + 0xa8]
   767  pop r14
   769  pop r13
   76b  pop r12
   76d  pop rbp
   76e  pop rbx
   76f  ret
