        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0x28], rax
        ; %0 = param f32 #0
    14  mov rax, qword ptr [rdi + 0x18]
    18  vpbroadcastd ymm0, dword ptr [rax]
    1d  mov rax, qword ptr [rdi + 0x8]
    21  cmp qword ptr [rax + 0x8], 0x24
    26  jb .L0
    2c  vmovups ymm15, ymmword ptr [rip - 0x54]
    34  vdivps ymm15, ymm15, ymm0
    38  vpsubd ymm1, ymm0, ymmword ptr [rip - 0x80]
    40  vpxor ymm1, ymm1, ymmword ptr [rip - 0xa8]
    48  vpcmpgtd ymm1, ymm1, ymmword ptr [rip - 0xd0]
    50  vmovmskps eax, ymm1
    54  mov dword ptr [rsp + 0x18], eax
.L0:
        ; enter a loop
    58  mov rax, qword ptr [rdi + 0x8]
    5c  mov rax, qword ptr [rax]
    5f  mov qword ptr [rsp + 0x30], rax
    64  mov rcx, qword ptr [rdi]
    67  mov r9, qword ptr [rcx]
    6a  mov rax, qword ptr [rcx + 0x8]
    6e  mov qword ptr [rsp], rax
    72  mov rax, qword ptr [rcx + 0x10]
    76  mov qword ptr [rsp + 0x8], rax
    7b  mov rax, qword ptr [rcx + 0x18]
    7f  mov qword ptr [rsp + 0x10], rax
.L1:
    84  mov rax, qword ptr [rdi + 0x8]
    88  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    8c  mov rbx, qword ptr [rsp]
    90  xor esi, esi
        ; %1 = load f32 $2
    92  mov rax, qword ptr [rsp + 0x8]
    97  vpbroadcastd ymm1, dword ptr [rax]
    9c  mov rax, qword ptr [rdi + 0x8]
    a0  cmp qword ptr [rax + 0x8], 0x24
    a5  jb .L2
    ab  vpaddd ymm2, ymm1, ymm1
    af  vpxor xmm3, xmm3, xmm3
    b3  vpcmpeqd ymm3, ymm3, ymm2
    b7  vpsubd ymm2, ymm2, ymmword ptr [rip - 0x15f]
    bf  vpxor ymm2, ymm2, ymmword ptr [rip - 0x127]
    c7  vpcmpgtd ymm2, ymm2, ymmword ptr [rip - 0x18f]
    cf  vpandn ymm2, ymm3, ymm2
    d3  vmovmskps eax, ymm2
    d7  or eax, dword ptr [rsp + 0x18]
    db  mov dword ptr [rsp + 0x20], eax
.L2:
        ; %2 = load f32 $3
    df  mov rax, qword ptr [rsp + 0x10]
    e4  vpbroadcastd ymm2, dword ptr [rax]
    e9  mov rax, qword ptr [rdi + 0x8]
    ed  cmp qword ptr [rax + 0x8], 0x24
    f2  jb .L3
    f8  vmovups ymm14, ymmword ptr [rip - 0x120]
   100  vdivps ymm14, ymm14, ymm2
   104  vpsubd ymm3, ymm2, ymmword ptr [rip - 0x14c]
   10c  vpxor ymm3, ymm3, ymmword ptr [rip - 0x174]
   114  vpcmpgtd ymm3, ymm3, ymmword ptr [rip - 0x19c]
   11c  vmovmskps eax, ymm3
   120  mov dword ptr [rsp + 0x1c], eax
.L3:
        ; vectors
   124  sub r8, 0x24
   128  jb .L5
   12e  mov eax, dword ptr [rsp + 0x18]
   132  or eax, dword ptr [rsp + 0x1c]
   136  or eax, dword ptr [rsp + 0x20]
   13a  test eax, eax
   13c  jne .L5
   142  nop word ptr [rax + rax]
   14b  nop word ptr [rax + rax]
   154  nop word ptr [rax + rax]
   15d  nop dword ptr [rax]
.L4:
        ; %3 = load u8 $1
   160  vmovups xmm3, xmmword ptr [rbx]
   164  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x23d]
   16d  vmovups xmm4, xmmword ptr [rbx + 0x10]
   172  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x25b]
   17b  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   17f  vpmovzxbd ymm5, xmm3
   184  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   188  vmulps ymm3, ymm4, ymm15
   18d  vmovaps ymm5, ymm3
   191  vfmsub213ps ymm5, ymm0, ymm4
   196  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   19b  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   19f  vmulps ymm3, ymm4, ymm14
   1a4  vmovaps ymm5, ymm3
   1a8  vfmsub213ps ymm5, ymm2, ymm4
   1ad  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   1b2  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; %3 = load u8 $1
   1b8  vmovups xmm3, xmmword ptr [rbx + 0x18]
   1bd  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x296]
   1c6  vmovups xmm4, xmmword ptr [rbx + 0x28]
   1cb  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x2b4]
   1d4  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   1d8  vpmovzxbd ymm5, xmm3
   1dd  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   1e1  vmulps ymm3, ymm4, ymm15
   1e6  vmovaps ymm5, ymm3
   1ea  vfmsub213ps ymm5, ymm0, ymm4
   1ef  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   1f4  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   1f8  vmulps ymm3, ymm4, ymm14
   1fd  vmovaps ymm5, ymm3
   201  vfmsub213ps ymm5, ymm2, ymm4
   206  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   20b  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm3
        ; %3 = load u8 $1
   212  vmovups xmm3, xmmword ptr [rbx + 0x30]
   217  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x2f0]
   220  vmovups xmm4, xmmword ptr [rbx + 0x40]
   225  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x30e]
   22e  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   232  vpmovzxbd ymm5, xmm3
   237  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   23b  vmulps ymm3, ymm4, ymm15
   240  vmovaps ymm5, ymm3
   244  vfmsub213ps ymm5, ymm0, ymm4
   249  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   24e  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   252  vmulps ymm3, ymm4, ymm14
   257  vmovaps ymm5, ymm3
   25b  vfmsub213ps ymm5, ymm2, ymm4
   260  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   265  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm3
        ; %3 = load u8 $1
   26c  vmovups xmm3, xmmword ptr [rbx + 0x48]
   271  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x34a]
   27a  vmovups xmm4, xmmword ptr [rbx + 0x58]
   27f  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x368]
   288  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   28c  vpmovzxbd ymm5, xmm3
   291  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   295  vmulps ymm3, ymm4, ymm15
   29a  vmovaps ymm5, ymm3
   29e  vfmsub213ps ymm5, ymm0, ymm4
   2a3  vfnmadd231ps ymm3, ymm5, ymm15
        ; %6 = sub f32 %5, %1
   2a8  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   2ac  vmulps ymm3, ymm4, ymm14
   2b1  vmovaps ymm5, ymm3
   2b5  vfmsub213ps ymm5, ymm2, ymm4
   2ba  vfnmadd231ps ymm3, ymm5, ymm14
        ; store f32 $0 %7
   2bf  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
   2c6  add rsi, 0x20
   2ca  add rbx, 0x60
   2ce  sub r8, 0x20
   2d2  jae .L4
.L5:
   2d8  add r8, 0x18
   2dc  js .L7
   2e2  nop word ptr [rax + rax]
   2eb  nop word ptr [rax + rax]
   2f4  nop word ptr [rax + rax]
   2fd  nop dword ptr [rax]
.L6:
        ; %3 = load u8 $1
   300  vmovups xmm3, xmmword ptr [rbx]
   304  vpshufb xmm3, xmm3, xmmword ptr [rip - 0x3dd]
   30d  vmovups xmm4, xmmword ptr [rbx + 0x10]
   312  vpshufb xmm4, xmm4, xmmword ptr [rip - 0x3fb]
   31b  vpor xmm3, xmm3, xmm4
        ; %4 = cast f32 %3
   31f  vpmovzxbd ymm5, xmm3
   324  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   328  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   32c  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   330  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   334  vmovups ymmword ptr [r9 + 4*rsi], ymm3
        ; addresses
   33a  add rsi, 0x8
   33e  add rbx, 0x18
   342  sub r8, 0x8
   346  jae .L6
.L7:
   348  add r8, 0xc
   34c  je .L10
.L8:
        ; tail
   352  mov r11d, 0x8
   358  cmp r8, r11
   35b  cmovb r11, r8
        ; %3 = load u8 $1
   35f  lea rax, [rbx]
   362  mov edx, 0x3
   367  xor ecx, ecx
.L9:
   369  mov r10b, byte ptr [rax]
   36c  mov byte ptr [rsp + rcx + 0x40], r10b
   371  add rax, rdx
   374  inc rcx
   377  cmp rcx, r11
   37a  jb .L9
   37c  vmovq xmm3, qword ptr [rsp + 0x40]
        ; %4 = cast f32 %3
   382  vpmovzxbd ymm5, xmm3
   387  vcvtdq2ps ymm4, ymm5
        ; %5 = div f32 %4, %0
   38b  vdivps ymm3, ymm4, ymm0
        ; %6 = sub f32 %5, %1
   38f  vsubps ymm4, ymm3, ymm1
        ; %7 = div f32 %6, %2
   393  vdivps ymm3, ymm4, ymm2
        ; store f32 $0 %7
   397  lea rcx, [rip - 0x4de]
   39e  mov rdx, r11
   3a1  neg rdx
   3a4  vmovups ymm4, ymmword ptr [rcx + 4*rdx + 0x20]
   3aa  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm4, ymm3
        ; addresses
   3b0  add rsi, 0x8
   3b4  add rbx, 0x18
   3b8  sub r8, 0x8
   3bc  ja .L8
.L10:
        ; next iteration
   3be  mov rax, qword ptr [rdi + 0x10]
   3c2  add r9, qword ptr [rax]
   3c5  mov rcx, qword ptr [rax + 0x8]
   3c9  add qword ptr [rsp], rcx
   3cd  mov rcx, qword ptr [rax + 0x10]
   3d1  add qword ptr [rsp + 0x8], rcx
   3d6  mov rcx, qword ptr [rax + 0x18]
   3da  add qword ptr [rsp + 0x10], rcx
   3df  dec qword ptr [rsp + 0x30]
   3e4  jne .L1
        ; return
   3ea  vzeroupper
   3ed  mov rsp, qword ptr [rsp + 0x28]
   3f2  pop rbx
   3f3  ret
