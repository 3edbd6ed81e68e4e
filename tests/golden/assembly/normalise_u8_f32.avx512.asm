        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0x30], rax
    14  vmovups zmm31, zmmword ptr [rip - 0x5e]
        ; %0 = param f32 #0
    1e  mov rax, qword ptr [rdi + 0x18]
    22  vpbroadcastd zmm16, dword ptr [rax]
    28  mov rax, qword ptr [rdi + 0x8]
    2c  cmp qword ptr [rax + 0x8], 0x46
    31  jb .L0
    37  vmovups zmm30, zmmword ptr [rip - 0xc1]
    41  vdivps zmm30, zmm30, zmm16
    47  vpsubd zmm17, zmm16, zmmword ptr [rip - 0x111]
    51  vpcmpnleud k2, zmm17, zmmword ptr [rip - 0x15c]
    5c  kmovw eax, k2
    60  mov dword ptr [rsp + 0x18], eax
    64  mov dword ptr [rsp + 0x24], 0x1
    6c  mov rax, qword ptr [rdi + 0x8]
    70  cmp qword ptr [rax + 0x8], 0x200
    78  jb .L0
    7e  vmovups zmm28, zmmword ptr [rip - 0x108]
    88  vfnmadd231ps zmm28, zmm16, zmm30
    8e  vdivps zmm28, zmm28, zmm16
    94  vpandq xmm19, xmm16, xmmword ptr [rip - 0x1ae]
    9e  vporq xmm19, xmm19, xmmword ptr [rip - 0x1c8]
    a8  vpaddd xmm18, xmm19, xmm19
    ae  vpaddd xmm18, xmm18, xmm19
    b4  vpxorq xmm18, xmm18, xmmword ptr [rip - 0x1ee]
    be  vpxorq xmm17, xmm17, xmm17
    c4  vpsubd xmm17, xmm17, xmm19
    ca  vpmulld xmm19, xmm17, xmm18
    d0  vpaddd xmm19, xmm19, xmmword ptr [rip - 0x20a]
    da  vpmulld xmm18, xmm18, xmm19
    e0  vpmulld xmm19, xmm17, xmm18
    e6  vpaddd xmm19, xmm19, xmmword ptr [rip - 0x220]
    f0  vpmulld xmm18, xmm18, xmm19
    f6  vpmulld xmm19, xmm17, xmm18
    fc  vpaddd xmm19, xmm19, xmmword ptr [rip - 0x236]
   106  vpmulld xmm18, xmm18, xmm19
   10c  vpandq xmm18, xmm18, xmmword ptr [rip - 0x256]
   116  vmovaps xmm19, xmmword ptr [rip - 0x270]
   120  vpsubd xmm19, xmm19, xmm18
   126  vpmaxud xmm19, xmm19, xmm18
   12c  vpsrld xmm19, xmm19, 0x1
   133  vcvtdq2ps xmm19, xmm19
   139  vpandq xmm17, xmm16, xmmword ptr [rip - 0x253]
   143  vporq xmm17, xmm17, xmmword ptr [rip - 0x2ad]
   14d  vaddps xmm18, xmm17, xmm17
   153  vfmadd213ps xmm19, xmm18, xmm17
   159  vmulps xmm17, xmm19, xmm28
   15f  vfmadd231ps xmm17, xmm19, xmm30
   165  vdivps xmm18, xmm19, xmm16
   16b  vpxorq xmm18, xmm18, xmm17
   171  vmovd eax, xmm18
   177  mov dword ptr [rsp + 0x24], eax
.L0:
        ; enter a loop
   17b  mov rax, qword ptr [rdi + 0x8]
   17f  mov rax, qword ptr [rax]
   182  mov qword ptr [rsp + 0x38], rax
   187  mov rcx, qword ptr [rdi]
   18a  mov r9, qword ptr [rcx]
   18d  mov rax, qword ptr [rcx + 0x8]
   191  mov qword ptr [rsp], rax
   195  mov rax, qword ptr [rcx + 0x10]
   199  mov qword ptr [rsp + 0x8], rax
   19e  mov rax, qword ptr [rcx + 0x18]
   1a2  mov qword ptr [rsp + 0x10], rax
.L1:
   1a7  mov rax, qword ptr [rdi + 0x8]
   1ab  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
   1af  mov rbx, qword ptr [rsp]
   1b3  xor esi, esi
        ; %1 = load f32 $2
   1b5  mov rax, qword ptr [rsp + 0x8]
   1ba  vpbroadcastd zmm17, dword ptr [rax]
   1c0  mov rax, qword ptr [rdi + 0x8]
   1c4  cmp qword ptr [rax + 0x8], 0x46
   1c9  jb .L2
   1cf  vpaddd zmm18, zmm17, zmm17
   1d5  vpsubd zmm18, zmm18, zmmword ptr [rip - 0x39f]
   1df  vpcmpnleud k2, zmm18, zmmword ptr [rip - 0x3ea]
   1ea  vptestmd k2 {k2}, zmm17, zmm17
   1f0  kmovw eax, k2
   1f4  or eax, dword ptr [rsp + 0x18]
   1f8  mov dword ptr [rsp + 0x20], eax
.L2:
        ; %2 = load f32 $3
   1fc  mov rax, qword ptr [rsp + 0x10]
   201  vpbroadcastd zmm18, dword ptr [rax]
   207  mov rax, qword ptr [rdi + 0x8]
   20b  cmp qword ptr [rax + 0x8], 0x46
   210  jb .L3
   216  vmovups zmm29, zmmword ptr [rip - 0x2a0]
   220  vdivps zmm29, zmm29, zmm18
   226  vpsubd zmm19, zmm18, zmmword ptr [rip - 0x2f0]
   230  vpcmpnleud k2, zmm19, zmmword ptr [rip - 0x33b]
   23b  kmovw eax, k2
   23f  mov dword ptr [rsp + 0x1c], eax
   243  mov dword ptr [rsp + 0x28], 0x1
   24b  mov rax, qword ptr [rdi + 0x8]
   24f  cmp qword ptr [rax + 0x8], 0x200
   257  jb .L3
   25d  vmovups zmm27, zmmword ptr [rip - 0x2e7]
   267  vfnmadd231ps zmm27, zmm18, zmm29
   26d  vdivps zmm27, zmm27, zmm18
   273  vpandq xmm21, xmm18, xmmword ptr [rip - 0x38d]
   27d  vporq xmm21, xmm21, xmmword ptr [rip - 0x3a7]
   287  vpaddd xmm20, xmm21, xmm21
   28d  vpaddd xmm20, xmm20, xmm21
   293  vpxorq xmm20, xmm20, xmmword ptr [rip - 0x3cd]
   29d  vpxorq xmm19, xmm19, xmm19
   2a3  vpsubd xmm19, xmm19, xmm21
   2a9  vpmulld xmm21, xmm19, xmm20
   2af  vpaddd xmm21, xmm21, xmmword ptr [rip - 0x3e9]
   2b9  vpmulld xmm20, xmm20, xmm21
   2bf  vpmulld xmm21, xmm19, xmm20
   2c5  vpaddd xmm21, xmm21, xmmword ptr [rip - 0x3ff]
   2cf  vpmulld xmm20, xmm20, xmm21
   2d5  vpmulld xmm21, xmm19, xmm20
   2db  vpaddd xmm21, xmm21, xmmword ptr [rip - 0x415]
   2e5  vpmulld xmm20, xmm20, xmm21
   2eb  vpandq xmm20, xmm20, xmmword ptr [rip - 0x435]
   2f5  vmovaps xmm21, xmmword ptr [rip - 0x44f]
   2ff  vpsubd xmm21, xmm21, xmm20
   305  vpmaxud xmm21, xmm21, xmm20
   30b  vpsrld xmm21, xmm21, 0x1
   312  vcvtdq2ps xmm21, xmm21
   318  vpandq xmm19, xmm18, xmmword ptr [rip - 0x432]
   322  vporq xmm19, xmm19, xmmword ptr [rip - 0x48c]
   32c  vaddps xmm20, xmm19, xmm19
   332  vfmadd213ps xmm21, xmm20, xmm19
   338  vmulps xmm19, xmm21, xmm27
   33e  vfmadd231ps xmm19, xmm21, xmm29
   344  vdivps xmm20, xmm21, xmm18
   34a  vpxorq xmm20, xmm20, xmm19
   350  vmovd eax, xmm20
   356  mov dword ptr [rsp + 0x28], eax
.L3:
        ; vectors
   35a  sub r8, 0x46
   35e  jb .L7
   364  mov eax, dword ptr [rsp + 0x18]
   368  or eax, dword ptr [rsp + 0x1c]
   36c  or eax, dword ptr [rsp + 0x20]
   370  test eax, eax
   372  jne .L7
   378  mov eax, dword ptr [rsp + 0x24]
   37c  or eax, dword ptr [rsp + 0x28]
   380  test eax, eax
   382  jne .L5
   388  nop word ptr [rax + rax]
   391  nop word ptr [rax + rax]
   39a  nop word ptr [rax + rax]
.L4:
        ; %3 = load u8 $1
   3a0  vpermb zmm19, zmm31, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   3a6  vpmovzxbd zmm21, xmm19
   3ac  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   3b2  vmulps zmm19, zmm20, zmm28
   3b8  vfmadd231ps zmm19, zmm20, zmm30
        ; %6 = sub f32 %5, %1
   3be  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   3c4  vmulps zmm19, zmm20, zmm27
   3ca  vfmadd231ps zmm19, zmm20, zmm29
        ; store f32 $0 %7
   3d0  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; %3 = load u8 $1
   3d7  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x30]
        ; %4 = cast f32 %3
   3e1  vpmovzxbd zmm21, xmm19
   3e7  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   3ed  vmulps zmm19, zmm20, zmm28
   3f3  vfmadd231ps zmm19, zmm20, zmm30
        ; %6 = sub f32 %5, %1
   3f9  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   3ff  vmulps zmm19, zmm20, zmm27
   405  vfmadd231ps zmm19, zmm20, zmm29
        ; store f32 $0 %7
   40b  vmovups zmmword ptr [r9 + 4*rsi + 0x40], zmm19
        ; %3 = load u8 $1
   413  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x60]
        ; %4 = cast f32 %3
   41d  vpmovzxbd zmm21, xmm19
   423  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   429  vmulps zmm19, zmm20, zmm28
   42f  vfmadd231ps zmm19, zmm20, zmm30
        ; %6 = sub f32 %5, %1
   435  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   43b  vmulps zmm19, zmm20, zmm27
   441  vfmadd231ps zmm19, zmm20, zmm29
        ; store f32 $0 %7
   447  vmovups zmmword ptr [r9 + 4*rsi + 0x80], zmm19
        ; %3 = load u8 $1
   44f  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x90]
        ; %4 = cast f32 %3
   459  vpmovzxbd zmm21, xmm19
   45f  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   465  vmulps zmm19, zmm20, zmm28
   46b  vfmadd231ps zmm19, zmm20, zmm30
        ; %6 = sub f32 %5, %1
   471  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   477  vmulps zmm19, zmm20, zmm27
   47d  vfmadd231ps zmm19, zmm20, zmm29
        ; store f32 $0 %7
   483  vmovups zmmword ptr [r9 + 4*rsi + 0xc0], zmm19
        ; addresses
   48b  add rsi, 0x40
   48f  add rbx, 0xc0
   496  sub r8, 0x40
   49a  jae .L4
   4a0  jmp .L7
.L5:
   4a5  nop word ptr [rax + rax]
   4ae  nop word ptr [rax + rax]
   4b7  nop word ptr [rax + rax]
.L6:
        ; %3 = load u8 $1
   4c0  vpermb zmm19, zmm31, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   4c6  vpmovzxbd zmm21, xmm19
   4cc  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   4d2  vmulps zmm19, zmm20, zmm30
   4d8  vmovaps zmm21, zmm19
   4de  vfmsub213ps zmm21, zmm16, zmm20
   4e4  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   4ea  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   4f0  vmulps zmm19, zmm20, zmm29
   4f6  vmovaps zmm21, zmm19
   4fc  vfmsub213ps zmm21, zmm18, zmm20
   502  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   508  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; %3 = load u8 $1
   50f  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x30]
        ; %4 = cast f32 %3
   519  vpmovzxbd zmm21, xmm19
   51f  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   525  vmulps zmm19, zmm20, zmm30
   52b  vmovaps zmm21, zmm19
   531  vfmsub213ps zmm21, zmm16, zmm20
   537  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   53d  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   543  vmulps zmm19, zmm20, zmm29
   549  vmovaps zmm21, zmm19
   54f  vfmsub213ps zmm21, zmm18, zmm20
   555  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   55b  vmovups zmmword ptr [r9 + 4*rsi + 0x40], zmm19
        ; %3 = load u8 $1
   563  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x60]
        ; %4 = cast f32 %3
   56d  vpmovzxbd zmm21, xmm19
   573  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   579  vmulps zmm19, zmm20, zmm30
   57f  vmovaps zmm21, zmm19
   585  vfmsub213ps zmm21, zmm16, zmm20
   58b  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   591  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   597  vmulps zmm19, zmm20, zmm29
   59d  vmovaps zmm21, zmm19
   5a3  vfmsub213ps zmm21, zmm18, zmm20
   5a9  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   5af  vmovups zmmword ptr [r9 + 4*rsi + 0x80], zmm19
        ; %3 = load u8 $1
   5b7  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x90]
        ; %4 = cast f32 %3
   5c1  vpmovzxbd zmm21, xmm19
   5c7  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   5cd  vmulps zmm19, zmm20, zmm30
   5d3  vmovaps zmm21, zmm19
   5d9  vfmsub213ps zmm21, zmm16, zmm20
   5df  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   5e5  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   5eb  vmulps zmm19, zmm20, zmm29
   5f1  vmovaps zmm21, zmm19
   5f7  vfmsub213ps zmm21, zmm18, zmm20
   5fd  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   603  vmovups zmmword ptr [r9 + 4*rsi + 0xc0], zmm19
        ; addresses
   60b  add rsi, 0x40
   60f  add rbx, 0xc0
   616  sub r8, 0x40
   61a  jae .L6
.L7:
   620  add r8, 0x30
   624  js .L9
   62a  nop word ptr [rax + rax]
   633  nop word ptr [rax + rax]
   63c  nop dword ptr [rax]
.L8:
        ; %3 = load u8 $1
   640  vpermb zmm19, zmm31, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   646  vpmovzxbd zmm21, xmm19
   64c  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   652  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   658  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   65e  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   664  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; addresses
   66b  add rsi, 0x10
   66f  add rbx, 0x30
   673  sub r8, 0x10
   677  jae .L8
.L9:
   679  add r8, 0x16
   67d  je .L11
.L10:
        ; tail
   683  mov r11d, 0x10
   689  cmp r8, r11
   68c  cmovb r11, r8
   690  mov eax, 0xffffffff
   695  bzhi eax, eax, r11d
   69a  kmovd k1, eax
        ; %3 = load u8 $1
   69e  imul rcx, r11, 0x3
   6a2  sub rcx, 0x2
   6a6  mov rdx, -0x1
   6ad  bzhi rdx, rdx, rcx
   6b2  kmovq k2, rdx
   6b7  vmovdqu8 zmm19 {k2} {z}, zmmword ptr [rbx]
   6bd  xor edx, edx
   6bf  sub rcx, 0x40
   6c3  cmovs rcx, rdx
   6c7  vpermb zmm19, zmm31, zmm19
        ; %4 = cast f32 %3
   6cd  vpmovzxbd zmm21, xmm19
   6d3  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   6d9  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   6df  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   6e5  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   6eb  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm19
        ; addresses
   6f2  add rsi, 0x10
   6f6  add rbx, 0x30
   6fa  sub r8, 0x10
   6fe  ja .L10
.L11:
        ; next iteration
   700  mov rax, qword ptr [rdi + 0x10]
   704  add r9, qword ptr [rax]
   707  mov rcx, qword ptr [rax + 0x8]
   70b  add qword ptr [rsp], rcx
   70f  mov rcx, qword ptr [rax + 0x10]
   713  add qword ptr [rsp + 0x8], rcx
   718  mov rcx, qword ptr [rax + 0x18]
   71c  add qword ptr [rsp + 0x10], rcx
   721  dec qword ptr [rsp + 0x38]
   726  jne .L1
        ; return
   72c  mov rsp, qword ptr [rsp + 0x30]
   731  pop rbx
   732  ret
