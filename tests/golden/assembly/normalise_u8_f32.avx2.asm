        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x140
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0xa8], rax
        ; %0 = param f32 #0
    17  mov rax, qword ptr [rdi + 0x18]
    1b  vpbroadcastd ymm0, dword ptr [rax]
    20  mov rax, qword ptr [rdi + 0x8]
    24  cmp qword ptr [rax + 0x8], 0x24
    29  jb .L0
    2f  vmovups ymm15, ymmword ptr [rip - 0x57]
    37  vdivps ymm15, ymm15, ymm0
    3b  vpsubd ymm1, ymm0, ymmword ptr [rip - 0x83]
    43  vpxor ymm1, ymm1, ymmword ptr [rip - 0xab]
    4b  vpcmpgtd ymm1, ymm1, ymmword ptr [rip - 0xd3]
    53  vmovmskps eax, ymm1
    57  mov dword ptr [rsp + 0x18], eax
    5b  mov dword ptr [rsp + 0x60], 0x1
    63  mov rax, qword ptr [rdi + 0x8]
    67  cmp qword ptr [rax + 0x8], 0x200
    6f  jb .L0
    75  vmovups ymm1, ymmword ptr [rip - 0x9d]
    7d  vfnmadd231ps ymm1, ymm0, ymm15
    82  vdivps ymm1, ymm1, ymm0
    86  vmovups ymmword ptr [rsp + 0x40], ymm1
    8c  vpand xmm3, xmm0, xmmword ptr [rip - 0x124]
    94  vpor xmm3, xmm3, xmmword ptr [rip - 0x13c]
    9c  vpaddd xmm2, xmm3, xmm3
    a0  vpaddd xmm2, xmm2, xmm3
    a4  vpxor xmm2, xmm2, xmmword ptr [rip - 0x15c]
    ac  vpxor xmm1, xmm1, xmm1
    b0  vpsubd xmm1, xmm1, xmm3
    b4  vpmulld xmm3, xmm1, xmm2
    b9  vpaddd xmm3, xmm3, xmmword ptr [rip - 0x171]
    c1  vpmulld xmm2, xmm2, xmm3
    c6  vpmulld xmm3, xmm1, xmm2
    cb  vpaddd xmm3, xmm3, xmmword ptr [rip - 0x183]
    d3  vpmulld xmm2, xmm2, xmm3
    d8  vpmulld xmm3, xmm1, xmm2
    dd  vpaddd xmm3, xmm3, xmmword ptr [rip - 0x195]
    e5  vpmulld xmm2, xmm2, xmm3
    ea  vpand xmm2, xmm2, xmmword ptr [rip - 0x1b2]
    f2  vmovaps xmm3, xmmword ptr [rip - 0x1ca]
    fa  vpsubd xmm3, xmm3, xmm2
    fe  vpmaxud xmm3, xmm3, xmm2
   103  vpsrld xmm3, xmm3, 0x1
   108  vcvtdq2ps xmm3, xmm3
   10c  vpand xmm1, xmm0, xmmword ptr [rip - 0x1a4]
   114  vpor xmm1, xmm1, xmmword ptr [rip - 0x1fc]
   11c  vaddps xmm2, xmm1, xmm1
   120  vfmadd213ps xmm3, xmm2, xmm1
   125  vmulps xmm1, xmm3, xmmword ptr [rsp + 0x40]
   12b  vfmadd231ps xmm1, xmm3, xmm15
   130  vdivps xmm2, xmm3, xmm0
   134  vpxor xmm2, xmm2, xmm1
   138  vmovd eax, xmm2
   13c  mov dword ptr [rsp + 0x60], eax
.L0:
        ; enter a loop
   140  mov rax, qword ptr [rdi + 0x8]
   144  mov rax, qword ptr [rax]
   147  mov qword ptr [rsp + 0xb0], rax
   14f  mov rcx, qword ptr [rdi]
   152  mov r9, qword ptr [rcx]
   155  mov rax, qword ptr [rcx + 0x8]
   159  mov qword ptr [rsp], rax
   15d  mov rax, qword ptr [rcx + 0x10]
   161  mov qword ptr [rsp + 0x8], rax
   166  mov rax, qword ptr [rcx + 0x18]
   16a  mov qword ptr [rsp + 0x10], rax
.L1:
   16f  mov rax, qword ptr [rdi + 0x8]
   173  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
   177  mov rbx, qword ptr [rsp]
   17b  xor esi, esi
        ; %1 = load f32 $2
   17d  mov rax, qword ptr [rsp + 0x8]
   182  vpbroadcastd ymm1, dword ptr [rax]
   187  mov rax, qword ptr [rdi + 0x8]
   18b  cmp qword ptr [rax + 0x8], 0x24
   190  jb .L2
   196  vpaddd ymm2, ymm1, ymm1
   19a  vpxor xmm3, xmm3, xmm3
   19e  vpcmpeqd ymm3, ymm3, ymm2
   1a2  vpsubd ymm2, ymm2, ymmword ptr [rip - 0x2aa]
   1aa  vpxor ymm2, ymm2, ymmword ptr [rip - 0x212]
   1b2  vpcmpgtd ymm2, ymm2, ymmword ptr [rip - 0x2da]
   1ba  vpandn ymm2, ymm3, ymm2
   1be  vmovmskps eax, ymm2
   1c2  or eax, dword ptr [rsp + 0x18]
   1c6  mov dword ptr [rsp + 0x20], eax
.L2:
        ; %2 = load f32 $3
   1ca  mov rax, qword ptr [rsp + 0x10]
   1cf  vpbroadcastd ymm2, dword ptr [rax]
   1d4  mov rax, qword ptr [rdi + 0x8]
   1d8  cmp qword ptr [rax + 0x8], 0x24
   1dd  jb .L3
   1e3  vmovups ymm14, ymmword ptr [rip - 0x20b]
   1eb  vdivps ymm14, ymm14, ymm2
   1ef  vpsubd ymm3, ymm2, ymmword ptr [rip - 0x237]
   1f7  vpxor ymm3, ymm3, ymmword ptr [rip - 0x25f]
   1ff  vpcmpgtd ymm3, ymm3, ymmword ptr [rip - 0x287]
   207  vmovmskps eax, ymm3
   20b  mov dword ptr [rsp + 0x1c], eax
   20f  mov dword ptr [rsp + 0xa0], 0x1
   21a  mov rax, qword ptr [rdi + 0x8]
   21e  cmp qword ptr [rax + 0x8], 0x200
   226  jb .L3
   22c  vmovups ymm3, ymmword ptr [rip - 0x254]
   234  vfnmadd231ps ymm3, ymm2, ymm14
   239  vdivps ymm3, ymm3, ymm2
   23d  vmovups ymmword ptr [rsp + 0x80], ymm3
   246  vpand xmm5, xmm2, xmmword ptr [rip - 0x2de]
   24e  vpor xmm5, xmm5, xmmword ptr [rip - 0x2f6]
   256  vpaddd xmm4, xmm5, xmm5
   25a  vpaddd xmm4, xmm4, xmm5
   25e  vpxor xmm4, xmm4, xmmword ptr [rip - 0x316]
   266  vpxor xmm3, xmm3, xmm3
   26a  vpsubd xmm3, xmm3, xmm5
   26e  vpmulld xmm5, xmm3, xmm4
   273  vpaddd xmm5, xmm5, xmmword ptr [rip - 0x32b]
   27b  vpmulld xmm4, xmm4, xmm5
   280  vpmulld xmm5, xmm3, xmm4
   285  vpaddd xmm5, xmm5, xmmword ptr [rip - 0x33d]
   28d  vpmulld xmm4, xmm4, xmm5
   292  vpmulld xmm5, xmm3, xmm4
   297  vpaddd xmm5, xmm5, xmmword ptr [rip - 0x34f]
   29f  vpmulld xmm4, xmm4, xmm5
   2a4  vpand xmm4, xmm4, xmmword ptr [rip - 0x36c]
   2ac  vmovaps xmm5, xmmword ptr [rip - 0x384]
   2b4  vpsubd xmm5, xmm5, xmm4
   2b8  vpmaxud xmm5, xmm5, xmm4
   2bd  vpsrld xmm5, xmm5, 0x1
   2c2  vcvtdq2ps xmm5, xmm5
   2c6  vpand xmm3, xmm2, xmmword ptr [rip - 0x35e]
   2ce  vpor xmm3, xmm3, xmmword ptr [rip - 0x3b6]
   2d6  vaddps xmm4, xmm3, xmm3
   2da  vfmadd213ps xmm5, xmm4, xmm3
   2df  vmulps xmm3, xmm5, xmmword ptr [rsp + 0x80]
   2e8  vfmadd231ps xmm3, xmm5, xmm14
   2ed  vdivps xmm4, xmm5, xmm2
   2f1  vpxor xmm4, xmm4, xmm3
   2f5  vmovd eax, xmm4
   2f9  mov dword ptr [rsp + 0xa0], eax
.L3:
        ; vectors
   300  sub r8, 0x24
   304  jb .L7
   30a  mov eax, dword ptr [rsp + 0x18]
   30e  or eax, dword ptr [rsp + 0x1c]
   312  or eax, dword ptr [rsp + 0x20]
   316  test eax, eax
   318  jne .L7
   31e  mov eax, dword ptr [rsp + 0x60]
   322  or eax, dword ptr [rsp + 0xa0]
   329  test eax, eax
   32b  jne .L5
   331  nop word ptr [rax + rax]
   33a  nop word ptr [rax + rax]
.L4:
        ; %3 = load u8 $1
   340  vmovups xmm3, xmmword ptr [rbx]
   344  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x47d]
   34d  vmovups xmm4, xmmword ptr [rbx + 0x10]
   352  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x49b]
   35b  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   35f  vpmovzxbd ymm5, xmm3
   364  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   368  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x40]
   36e  vfmadd231ps ymm3, ymm4, ymm15
        ; %6 = sub f32 %5, %1
   373  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   377  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x80]
   380  vfmadd231ps ymm3, ymm4, ymm14
        ; store f32 $0 %7
   385  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; %3 = load u8 $1
   38b  vmovups xmm3, xmmword ptr [rbx + 0x18]
   390  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x4c9]
   399  vmovups xmm4, xmmword ptr [rbx + 0x28]
   39e  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x4e7]
   3a7  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   3ab  vpmovzxbd ymm5, xmm3
   3b0  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   3b4  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x40]
   3ba  vfmadd231ps ymm3, ymm4, ymm15
        ; %6 = sub f32 %5, %1
   3bf  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   3c3  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x80]
   3cc  vfmadd231ps ymm3, ymm4, ymm14
        ; store f32 $0 %7
   3d1  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm3
        ; %3 = load u8 $1
   3d8  vmovups xmm3, xmmword ptr [rbx + 0x30]
   3dd  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x516]
   3e6  vmovups xmm4, xmmword ptr [rbx + 0x40]
   3eb  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x534]
   3f4  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   3f8  vpmovzxbd ymm5, xmm3
   3fd  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   401  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x40]
   407  vfmadd231ps ymm3, ymm4, ymm15
        ; %6 = sub f32 %5, %1
   40c  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   410  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x80]
   419  vfmadd231ps ymm3, ymm4, ymm14
        ; store f32 $0 %7
   41e  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm3
        ; %3 = load u8 $1
   425  vmovups xmm3, xmmword ptr [rbx + 0x48]
   42a  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x563]
   433  vmovups xmm4, xmmword ptr [rbx + 0x58]
   438  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x581]
   441  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   445  vpmovzxbd ymm5, xmm3
   44a  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   44e  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x40]
   454  vfmadd231ps ymm3, ymm4, ymm15
        ; %6 = sub f32 %5, %1
   459  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   45d  vmulps ymm3, ymm4, ymmword ptr [rsp + 0x80]
   466  vfmadd231ps ymm3, ymm4, ymm14
        ; store f32 $0 %7
   46b  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
   472  add rsi, 0x20
   476  add rbx, 0x60
   47a  sub r8, 0x20
   47e  jae .L4
   484  jmp .L7
.L5:
   489  nop word ptr [rax + rax]
   492  nop word ptr [rax + rax]
   49b  nop dword ptr [rax + rax]
.L6:
        ; %3 = load u8 $1
   4a0  vmovups xmm3, xmmword ptr [rbx]
   4a4  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x5dd]
   4ad  vmovups xmm4, xmmword ptr [rbx + 0x10]
   4b2  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x5fb]
   4bb  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   4bf  vpmovzxbd ymm5, xmm3
   4c4  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   4c8  vmulps ymm3, ymm4, ymm15
   4cd  vmovaps ymm5, ymm3
   4d1  vfmsub213ps ymm5, ymm0, ymm4
   4d6  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   4db  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   4df  vmulps ymm3, ymm4, ymm14
   4e4  vmovaps ymm5, ymm3
   4e8  vfmsub213ps ymm5, ymm2, ymm4
   4ed  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   4f2  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; %3 = load u8 $1
   4f8  vmovups xmm3, xmmword ptr [rbx + 0x18]
   4fd  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x636]
   506  vmovups xmm4, xmmword ptr [rbx + 0x28]
   50b  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x654]
   514  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   518  vpmovzxbd ymm5, xmm3
   51d  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   521  vmulps ymm3, ymm4, ymm15
   526  vmovaps ymm5, ymm3
   52a  vfmsub213ps ymm5, ymm0, ymm4
   52f  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   534  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   538  vmulps ymm3, ymm4, ymm14
   53d  vmovaps ymm5, ymm3
   541  vfmsub213ps ymm5, ymm2, ymm4
   546  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   54b  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm3
        ; %3 = load u8 $1
   552  vmovups xmm3, xmmword ptr [rbx + 0x30]
   557  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x690]
   560  vmovups xmm4, xmmword ptr [rbx + 0x40]
   565  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x6ae]
   56e  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   572  vpmovzxbd ymm5, xmm3
   577  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   57b  vmulps ymm3, ymm4, ymm15
   580  vmovaps ymm5, ymm3
   584  vfmsub213ps ymm5, ymm0, ymm4
   589  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   58e  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   592  vmulps ymm3, ymm4, ymm14
   597  vmovaps ymm5, ymm3
   59b  vfmsub213ps ymm5, ymm2, ymm4
   5a0  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   5a5  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm3
        ; %3 = load u8 $1
   5ac  vmovups xmm3, xmmword ptr [rbx + 0x48]
   5b1  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x6ea]
   5ba  vmovups xmm4, xmmword ptr [rbx + 0x58]
   5bf  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x708]
   5c8  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   5cc  vpmovzxbd ymm5, xmm3
   5d1  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   5d5  vmulps ymm3, ymm4, ymm15
   5da  vmovaps ymm5, ymm3
   5de  vfmsub213ps ymm5, ymm0, ymm4
   5e3  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   5e8  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   5ec  vmulps ymm3, ymm4, ymm14
   5f1  vmovaps ymm5, ymm3
   5f5  vfmsub213ps ymm5, ymm2, ymm4
   5fa  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   5ff  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
   606  add rsi, 0x20
   60a  add rbx, 0x60
   60e  sub r8, 0x20
   612  jae .L6
.L7:
   618  add r8, 0x18
   61c  js .L9
   622  nop word ptr [rax + rax]
   62b  nop word ptr [rax + rax]
   634  nop word ptr [rax + rax]
   63d  nop dword ptr [rax]
.L8:
        ; %3 = load u8 $1
   640  vmovups xmm3, xmmword ptr [rbx]
   644  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x77d]
   64d  vmovups xmm4, xmmword ptr [rbx + 0x10]
   652  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x79b]
   65b  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   65f  vpmovzxbd ymm5, xmm3
   664  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   668  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   66c  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   670  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   674  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; addresses
   67a  add rsi, 0x8
   67e  add rbx, 0x18
   682  sub r8, 0x8
   686  jae .L8
.L9:
   688  add r8, 0xc
   68c  je .L12
.L10:
        ; tail
   692  mov r11d, 0x8
   698  cmp r8, r11
   69b  cmovb r11, r8
        ; %3 = load u8 $1
   69f  lea rax, [rbx]
   6a2  mov edx, 0x3
   6a7  xor ecx, ecx
.L11:
   6a9  mov r10b, byte ptr [rax]
   6ac  mov byte ptr [rsp + rcx + 0xc0], r10b
   6b4  add rax, rdx
   6b7  inc rcx
   6ba  cmp rcx, r11
   6bd  jb .L11
   6bf  vmovq xmm3, qword ptr [rsp + 0xc0]
        ; %4 = cast f32 %3
   6c8  vpmovzxbd ymm5, xmm3
   6cd  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   6d1  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   6d5  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   6d9  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   6dd  lea rcx, [rip - 0x864]
   6e4  mov rdx, r11
   6e7  neg rdx
   6ea  vmovups ymm4, ymmword ptr [rcx + 4*rdx + 0x20]
   6f0  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm4, ymm3
        ; addresses
   6f6  add rsi, 0x8
   6fa  add rbx, 0x18
   6fe  sub r8, 0x8
   702  ja .L10
.L12:
        ; next iteration
   704  mov rax, qword ptr [rdi + 0x10]
   708  add r9, qword ptr [rax]
   70b  mov rcx, qword ptr [rax + 0x8]
   70f  add qword ptr [rsp], rcx
   713  mov rcx, qword ptr [rax + 0x10]
   717  add qword ptr [rsp + 0x8], rcx
   71c  mov rcx, qword ptr [rax + 0x18]
   720  add qword ptr [rsp + 0x10], rcx
   725  dec qword ptr [rsp + 0xb0]
   72d  jne .L1
        ; return
   733  vzeroupper
   736  mov rsp, qword ptr [rsp + 0xa8]
   73e  pop rbx
   73f  ret
