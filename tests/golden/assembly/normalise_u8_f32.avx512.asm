        ; entry
     0  push rbx
     1  push rbp
     2  push r12
     4  push r13
     6  push r14
     8  mov rax, rsp
     b  sub rsp, 0x40
    12  and rsp, -0x40
    16  mov qword ptr [rsp + 0x18], rax
    1b  vmovups zmm31, zmmword ptr [rip - 0x65]
        ; %0 = param f32 #0
    25  mov rax, qword ptr [rdi + 0x18]
    29  vpbroadcastd zmm16, dword ptr [rax]
    2f  mov rax, qword ptr [rdi + 0x8]
    33  cmp qword ptr [rax + 0x8], 0x46
    38  jb .L0
    3e  vmovups zmm30, zmmword ptr [rip - 0xc8]
    48  vdivps zmm30, zmm30, zmm16
    4e  vpsubd zmm17, zmm16, zmmword ptr [rip - 0x118]
    58  vpcmpnleud k2, zmm17, zmmword ptr [rip - 0x163]
    63  kmovw eax, k2
    67  mov dword ptr [rsp], eax
    6a  mov dword ptr [rsp + 0xc], 0x1
    72  mov rax, qword ptr [rdi + 0x8]
    76  cmp qword ptr [rax + 0x8], 0x200
    7e  jb .L0
    84  vmovups zmm28, zmmword ptr [rip - 0x10e]
    8e  vfnmadd231ps zmm28, zmm16, zmm30
    94  vdivps zmm28, zmm28, zmm16
    9a  vpandq xmm19, xmm16, xmmword ptr [rip - 0x1b4]
    a4  vporq xmm19, xmm19, xmmword ptr [rip - 0x1ce]
    ae  vpaddd xmm18, xmm19, xmm19
    b4  vpaddd xmm18, xmm18, xmm19
    ba  vpxorq xmm18, xmm18, xmmword ptr [rip - 0x1f4]
    c4  vpxorq xmm17, xmm17, xmm17
    ca  vpsubd xmm17, xmm17, xmm19
    d0  vpmulld xmm19, xmm17, xmm18
    d6  vpaddd xmm19, xmm19, xmmword ptr [rip - 0x210]
    e0  vpmulld xmm18, xmm18, xmm19
    e6  vpmulld xmm19, xmm17, xmm18
    ec  vpaddd xmm19, xmm19, xmmword ptr [rip - 0x226]
    f6  vpmulld xmm18, xmm18, xmm19
    fc  vpmulld xmm19, xmm17, xmm18
   102  vpaddd xmm19, xmm19, xmmword ptr [rip - 0x23c]
   10c  vpmulld xmm18, xmm18, xmm19
   112  vpandq xmm18, xmm18, xmmword ptr [rip - 0x25c]
   11c  vmovaps xmm19, xmmword ptr [rip - 0x276]
   126  vpsubd xmm19, xmm19, xmm18
   12c  vpmaxud xmm19, xmm19, xmm18
   132  vpsrld xmm19, xmm19, 0x1
   139  vcvtdq2ps xmm19, xmm19
   13f  vpandq xmm17, xmm16, xmmword ptr [rip - 0x259]
   149  vporq xmm17, xmm17, xmmword ptr [rip - 0x2b3]
   153  vaddps xmm18, xmm17, xmm17
   159  vfmadd213ps xmm19, xmm18, xmm17
   15f  vmulps xmm17, xmm19, xmm28
   165  vfmadd231ps xmm17, xmm19, xmm30
   16b  vdivps xmm18, xmm19, xmm16
   171  vpxorq xmm18, xmm18, xmm17
   177  vmovd eax, xmm18
   17d  mov dword ptr [rsp + 0xc], eax
.L0:
        ; enter a loop
   181  mov rax, qword ptr [rdi + 0x8]
   185  mov rax, qword ptr [rax]
   188  mov r14, rax
   18b  mov rcx, qword ptr [rdi]
   18e  mov r9, qword ptr [rcx]
   191  mov rbp, qword ptr [rcx + 0x8]
   195  mov r12, qword ptr [rcx + 0x10]
   199  mov r13, qword ptr [rcx + 0x18]
.L1:
   19d  mov rax, qword ptr [rdi + 0x8]
   1a1  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
   1a5  mov rbx, rbp
   1a8  xor esi, esi
        ; %1 = load f32 $2
   1aa  vpbroadcastd zmm17, dword ptr [r12]
   1b1  mov rax, qword ptr [rdi + 0x8]
   1b5  cmp qword ptr [rax + 0x8], 0x46
   1ba  jb .L2
   1c0  vpaddd zmm18, zmm17, zmm17
   1c6  vpsubd zmm18, zmm18, zmmword ptr [rip - 0x390]
   1d0  vpcmpnleud k2, zmm18, zmmword ptr [rip - 0x3db]
   1db  vptestmd k2 {k2}, zmm17, zmm17
   1e1  kmovw eax, k2
   1e5  or eax, dword ptr [rsp]
   1e8  mov dword ptr [rsp + 0x8], eax
.L2:
        ; %2 = load f32 $3
   1ec  vpbroadcastd zmm18, dword ptr [r13]
   1f3  mov rax, qword ptr [rdi + 0x8]
   1f7  cmp qword ptr [rax + 0x8], 0x46
   1fc  jb .L3
   202  vmovups zmm29, zmmword ptr [rip - 0x28c]
   20c  vdivps zmm29, zmm29, zmm18
   212  vpsubd zmm19, zmm18, zmmword ptr [rip - 0x2dc]
   21c  vpcmpnleud k2, zmm19, zmmword ptr [rip - 0x327]
   227  kmovw eax, k2
   22b  mov dword ptr [rsp + 0x4], eax
   22f  mov dword ptr [rsp + 0x10], 0x1
   237  mov rax, qword ptr [rdi + 0x8]
   23b  cmp qword ptr [rax + 0x8], 0x200
   243  jb .L3
   249  vmovups zmm27, zmmword ptr [rip - 0x2d3]
   253  vfnmadd231ps zmm27, zmm18, zmm29
   259  vdivps zmm27, zmm27, zmm18
   25f  vpandq xmm21, xmm18, xmmword ptr [rip - 0x379]
   269  vporq xmm21, xmm21, xmmword ptr [rip - 0x393]
   273  vpaddd xmm20, xmm21, xmm21
   279  vpaddd xmm20, xmm20, xmm21
   27f  vpxorq xmm20, xmm20, xmmword ptr [rip - 0x3b9]
   289  vpxorq xmm19, xmm19, xmm19
   28f  vpsubd xmm19, xmm19, xmm21
   295  vpmulld xmm21, xmm19, xmm20
   29b  vpaddd xmm21, xmm21, xmmword ptr [rip - 0x3d5]
   2a5  vpmulld xmm20, xmm20, xmm21
   2ab  vpmulld xmm21, xmm19, xmm20
   2b1  vpaddd xmm21, xmm21, xmmword ptr [rip - 0x3eb]
   2bb  vpmulld xmm20, xmm20, xmm21
   2c1  vpmulld xmm21, xmm19, xmm20
   2c7  vpaddd xmm21, xmm21, xmmword ptr [rip - 0x401]
   2d1  vpmulld xmm20, xmm20, xmm21
   2d7  vpandq xmm20, xmm20, xmmword ptr [rip - 0x421]
   2e1  vmovaps xmm21, xmmword ptr [rip - 0x43b]
   2eb  vpsubd xmm21, xmm21, xmm20
   2f1  vpmaxud xmm21, xmm21, xmm20
   2f7  vpsrld xmm21, xmm21, 0x1
   2fe  vcvtdq2ps xmm21, xmm21
   304  vpandq xmm19, xmm18, xmmword ptr [rip - 0x41e]
   30e  vporq xmm19, xmm19, xmmword ptr [rip - 0x478]
   318  vaddps xmm20, xmm19, xmm19
   31e  vfmadd213ps xmm21, xmm20, xmm19
   324  vmulps xmm19, xmm21, xmm27
   32a  vfmadd231ps xmm19, xmm21, xmm29
   330  vdivps xmm20, xmm21, xmm18
   336  vpxorq xmm20, xmm20, xmm19
   33c  vmovd eax, xmm20
   342  mov dword ptr [rsp + 0x10], eax
.L3:
        ; vectors
   346  sub r8, 0x46
   34a  jb .L7
   350  mov eax, dword ptr [rsp]
   353  or eax, dword ptr [rsp + 0x4]
   357  or eax, dword ptr [rsp + 0x8]
   35b  test eax, eax
   35d  jne .L7
   363  mov eax, dword ptr [rsp + 0xc]
   367  or eax, dword ptr [rsp + 0x10]
   36b  test eax, eax
   36d  jne .L5
   373  nop word ptr [rax + rax]
   37c  nop dword ptr [rax]
.L4:
        ; %3 = load u8 $1
   380  vpermb zmm19, zmm31, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   386  vpmovzxbd zmm21, xmm19
   38c  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   392  vmulps zmm19, zmm20, zmm28
   398  vfmadd231ps zmm19, zmm20, zmm30
        ; %6 = sub f32 %5, %1
   39e  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   3a4  vmulps zmm19, zmm20, zmm27
   3aa  vfmadd231ps zmm19, zmm20, zmm29
        ; store f32 $0 %7
   3b0  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; %3 = load u8 $1
   3b7  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x30]
        ; %4 = cast f32 %3
   3c1  vpmovzxbd zmm21, xmm19
   3c7  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   3cd  vmulps zmm19, zmm20, zmm28
   3d3  vfmadd231ps zmm19, zmm20, zmm30
        ; %6 = sub f32 %5, %1
   3d9  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   3df  vmulps zmm19, zmm20, zmm27
   3e5  vfmadd231ps zmm19, zmm20, zmm29
        ; store f32 $0 %7
   3eb  vmovups zmmword ptr [r9 + 4*rsi + 0x40], zmm19
        ; %3 = load u8 $1
   3f3  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x60]
        ; %4 = cast f32 %3
   3fd  vpmovzxbd zmm21, xmm19
   403  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   409  vmulps zmm19, zmm20, zmm28
   40f  vfmadd231ps zmm19, zmm20, zmm30
        ; %6 = sub f32 %5, %1
   415  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   41b  vmulps zmm19, zmm20, zmm27
   421  vfmadd231ps zmm19, zmm20, zmm29
        ; store f32 $0 %7
   427  vmovups zmmword ptr [r9 + 4*rsi + 0x80], zmm19
        ; %3 = load u8 $1
   42f  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x90]
        ; %4 = cast f32 %3
   439  vpmovzxbd zmm21, xmm19
   43f  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   445  vmulps zmm19, zmm20, zmm28
   44b  vfmadd231ps zmm19, zmm20, zmm30
        ; %6 = sub f32 %5, %1
   451  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   457  vmulps zmm19, zmm20, zmm27
   45d  vfmadd231ps zmm19, zmm20, zmm29
        ; store f32 $0 %7
   463  vmovups zmmword ptr [r9 + 4*rsi + 0xc0], zmm19
        ; addresses
   46b  add rsi, 0x40
   46f  add rbx, 0xc0
   476  sub r8, 0x40
   47a  jae .L4
   480  jmp .L7
.L5:
   485  nop word ptr [rax + rax]
   48e  nop word ptr [rax + rax]
   497  nop word ptr [rax + rax]
.L6:
        ; %3 = load u8 $1
   4a0  vpermb zmm19, zmm31, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   4a6  vpmovzxbd zmm21, xmm19
   4ac  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   4b2  vmulps zmm19, zmm20, zmm30
   4b8  vmovaps zmm21, zmm19
   4be  vfmsub213ps zmm21, zmm16, zmm20
   4c4  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   4ca  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   4d0  vmulps zmm19, zmm20, zmm29
   4d6  vmovaps zmm21, zmm19
   4dc  vfmsub213ps zmm21, zmm18, zmm20
   4e2  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   4e8  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; %3 = load u8 $1
   4ef  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x30]
        ; %4 = cast f32 %3
   4f9  vpmovzxbd zmm21, xmm19
   4ff  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   505  vmulps zmm19, zmm20, zmm30
   50b  vmovaps zmm21, zmm19
   511  vfmsub213ps zmm21, zmm16, zmm20
   517  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   51d  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   523  vmulps zmm19, zmm20, zmm29
   529  vmovaps zmm21, zmm19
   52f  vfmsub213ps zmm21, zmm18, zmm20
   535  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   53b  vmovups zmmword ptr [r9 + 4*rsi + 0x40], zmm19
        ; %3 = load u8 $1
   543  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x60]
        ; %4 = cast f32 %3
   54d  vpmovzxbd zmm21, xmm19
   553  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   559  vmulps zmm19, zmm20, zmm30
   55f  vmovaps zmm21, zmm19
   565  vfmsub213ps zmm21, zmm16, zmm20
   56b  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   571  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   577  vmulps zmm19, zmm20, zmm29
   57d  vmovaps zmm21, zmm19
   583  vfmsub213ps zmm21, zmm18, zmm20
   589  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   58f  vmovups zmmword ptr [r9 + 4*rsi + 0x80], zmm19
        ; %3 = load u8 $1
   597  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x90]
        ; %4 = cast f32 %3
   5a1  vpmovzxbd zmm21, xmm19
   5a7  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   5ad  vmulps zmm19, zmm20, zmm30
   5b3  vmovaps zmm21, zmm19
   5b9  vfmsub213ps zmm21, zmm16, zmm20
   5bf  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   5c5  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   5cb  vmulps zmm19, zmm20, zmm29
   5d1  vmovaps zmm21, zmm19
   5d7  vfmsub213ps zmm21, zmm18, zmm20
   5dd  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   5e3  vmovups zmmword ptr [r9 + 4*rsi + 0xc0], zmm19
        ; addresses
   5eb  add rsi, 0x40
   5ef  add rbx, 0xc0
   5f6  sub r8, 0x40
   5fa  jae .L6
.L7:
   600  add r8, 0x30
   604  js .L9
   60a  nop word ptr [rax + rax]
   613  nop word ptr [rax + rax]
   61c  nop dword ptr [rax]
.L8:
        ; %3 = load u8 $1
   620  vpermb zmm19, zmm31, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   626  vpmovzxbd zmm21, xmm19
   62c  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   632  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   638  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   63e  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   644  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; addresses
   64b  add rsi, 0x10
   64f  add rbx, 0x30
   653  sub r8, 0x10
   657  jae .L8
.L9:
   659  add r8, 0x16
   65d  je .L11
.L10:
        ; tail
   663  mov r11d, 0x10
   669  cmp r8, r11
   66c  cmovb r11, r8
   670  mov eax, 0xffffffff
   675  bzhi eax, eax, r11d
   67a  kmovd k1, eax
        ; %3 = load u8 $1
   67e  imul rcx, r11, 0x3
   682  sub rcx, 0x2
   686  mov rdx, -0x1
   68d  bzhi rdx, rdx, rcx
   692  kmovq k2, rdx
   697  vmovdqu8 zmm19 {k2} {z}, zmmword ptr [rbx]
   69d  xor edx, edx
   69f  sub rcx, 0x40
   6a3  cmovs rcx, rdx
   6a7  vpermb zmm19, zmm31, zmm19
        ; %4 = cast f32 %3
   6ad  vpmovzxbd zmm21, xmm19
   6b3  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   6b9  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   6bf  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   6c5  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   6cb  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm19
        ; addresses
   6d2  add rsi, 0x10
   6d6  add rbx, 0x30
   6da  sub r8, 0x10
   6de  ja .L10
.L11:
        ; next iteration
   6e0  mov rax, qword ptr [rdi + 0x10]
   6e4  add r9, qword ptr [rax]
   6e7  add rbp, qword ptr [rax + 0x8]
   6eb  add r12, qword ptr [rax + 0x10]
   6ef  add r13, qword ptr [rax + 0x18]
   6f3  dec r14
   6f6  jne .L1
        ; return
   6fc  mov rsp, qword ptr [rsp + 0x18]
   701  pop r14
   703  pop r13
   705  pop r12
   707  pop rbp
   708  pop rbx
   709  ret
