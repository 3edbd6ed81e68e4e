        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0x28], rax
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
.L0:
        ; enter a loop
    64  mov rax, qword ptr [rdi + 0x8]
    68  mov rax, qword ptr [rax]
    6b  mov qword ptr [rsp + 0x30], rax
    70  mov rcx, qword ptr [rdi]
    73  mov r9, qword ptr [rcx]
    76  mov rax, qword ptr [rcx + 0x8]
    7a  mov qword ptr [rsp], rax
    7e  mov rax, qword ptr [rcx + 0x10]
    82  mov qword ptr [rsp + 0x8], rax
    87  mov rax, qword ptr [rcx + 0x18]
    8b  mov qword ptr [rsp + 0x10], rax
.L1:
    90  mov rax, qword ptr [rdi + 0x8]
    94  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    98  mov rbx, qword ptr [rsp]
    9c  xor esi, esi
        ; %1 = load f32 $2
    9e  mov rax, qword ptr [rsp + 0x8]
    a3  vpbroadcastd zmm17, dword ptr [rax]
    a9  mov rax, qword ptr [rdi + 0x8]
    ad  cmp qword ptr [rax + 0x8], 0x46
    b2  jb .L2
    b8  vpaddd zmm18, zmm17, zmm17
    be  vpsubd zmm18, zmm18, zmmword ptr [rip - 0x208]
    c8  vpcmpnleud k2, zmm18, zmmword ptr [rip - 0x253]
    d3  vptestmd k2 {k2}, zmm17, zmm17
    d9  kmovw eax, k2
    dd  or eax, dword ptr [rsp + 0x18]
    e1  mov dword ptr [rsp + 0x20], eax
.L2:
        ; %2 = load f32 $3
    e5  mov rax, qword ptr [rsp + 0x10]
    ea  vpbroadcastd zmm18, dword ptr [rax]
    f0  mov rax, qword ptr [rdi + 0x8]
    f4  cmp qword ptr [rax + 0x8], 0x46
    f9  jb .L3
    ff  vmovups zmm29, zmmword ptr [rip - 0x189]
   109  vdivps zmm29, zmm29, zmm18
   10f  vpsubd zmm19, zmm18, zmmword ptr [rip - 0x1d9]
   119  vpcmpnleud k2, zmm19, zmmword ptr [rip - 0x224]
   124  kmovw eax, k2
   128  mov dword ptr [rsp + 0x1c], eax
.L3:
        ; vectors
   12c  sub r8, 0x46
   130  jb .L5
   136  mov eax, dword ptr [rsp + 0x18]
   13a  or eax, dword ptr [rsp + 0x1c]
   13e  or eax, dword ptr [rsp + 0x20]
   142  test eax, eax
   144  jne .L5
   14a  nop word ptr [rax + rax]
   153  nop word ptr [rax + rax]
   15c  nop dword ptr [rax]
.L4:
        ; %3 = load u8 $1
   160  vpermb zmm19, zmm31, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   166  vpmovzxbd zmm21, xmm19
   16c  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   172  vmulps zmm19, zmm20, zmm30
   178  vmovaps zmm21, zmm19
   17e  vfmsub213ps zmm21, zmm16, zmm20
   184  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   18a  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   190  vmulps zmm19, zmm20, zmm29
   196  vmovaps zmm21, zmm19
   19c  vfmsub213ps zmm21, zmm18, zmm20
   1a2  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   1a8  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; %3 = load u8 $1
   1af  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x30]
        ; %4 = cast f32 %3
   1b9  vpmovzxbd zmm21, xmm19
   1bf  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   1c5  vmulps zmm19, zmm20, zmm30
   1cb  vmovaps zmm21, zmm19
   1d1  vfmsub213ps zmm21, zmm16, zmm20
   1d7  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   1dd  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   1e3  vmulps zmm19, zmm20, zmm29
   1e9  vmovaps zmm21, zmm19
   1ef  vfmsub213ps zmm21, zmm18, zmm20
   1f5  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   1fb  vmovups zmmword ptr [r9 + 4*rsi + 0x40], zmm19
        ; %3 = load u8 $1
   203  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x60]
        ; %4 = cast f32 %3
   20d  vpmovzxbd zmm21, xmm19
   213  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   219  vmulps zmm19, zmm20, zmm30
   21f  vmovaps zmm21, zmm19
   225  vfmsub213ps zmm21, zmm16, zmm20
   22b  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   231  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   237  vmulps zmm19, zmm20, zmm29
   23d  vmovaps zmm21, zmm19
   243  vfmsub213ps zmm21, zmm18, zmm20
   249  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   24f  vmovups zmmword ptr [r9 + 4*rsi + 0x80], zmm19
        ; %3 = load u8 $1
   257  vpermb zmm19, zmm31, zmmword ptr [rbx + 0x90]
        ; %4 = cast f32 %3
   261  vpmovzxbd zmm21, xmm19
   267  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   26d  vmulps zmm19, zmm20, zmm30
   273  vmovaps zmm21, zmm19
   279  vfmsub213ps zmm21, zmm16, zmm20
   27f  vfnmadd231ps zmm19, zmm21, zmm30
        ; %6 = sub f32 %5, %1
   285  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   28b  vmulps zmm19, zmm20, zmm29
   291  vmovaps zmm21, zmm19
   297  vfmsub213ps zmm21, zmm18, zmm20
   29d  vfnmadd231ps zmm19, zmm21, zmm29
        ; store f32 $0 %7
   2a3  vmovups zmmword ptr [r9 + 4*rsi + 0xc0], zmm19
        ; addresses
   2ab  add rsi, 0x40
   2af  add rbx, 0xc0
   2b6  sub r8, 0x40
   2ba  jae .L4
.L5:
   2c0  add r8, 0x30
   2c4  js .L7
   2ca  nop word ptr [rax + rax]
   2d3  nop word ptr [rax + rax]
   2dc  nop dword ptr [rax]
.L6:
        ; %3 = load u8 $1
   2e0  vpermb zmm19, zmm31, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   2e6  vpmovzxbd zmm21, xmm19
   2ec  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   2f2  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   2f8  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   2fe  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   304  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; addresses
   30b  add rsi, 0x10
   30f  add rbx, 0x30
   313  sub r8, 0x10
   317  jae .L6
.L7:
   319  add r8, 0x16
   31d  je .L9
.L8:
        ; tail
   323  mov r11d, 0x10
   329  cmp r8, r11
   32c  cmovb r11, r8
   330  mov eax, 0xffffffff
   335  bzhi eax, eax, r11d
   33a  kmovd k1, eax
        ; %3 = load u8 $1
   33e  imul rcx, r11, 0x3
   342  sub rcx, 0x2
   346  mov rdx, -0x1
   34d  bzhi rdx, rdx, rcx
   352  kmovq k2, rdx
   357  vmovdqu8 zmm19 {k2} {z}, zmmword ptr [rbx]
   35d  xor edx, edx
   35f  sub rcx, 0x40
   363  cmovs rcx, rdx
   367  vpermb zmm19, zmm31, zmm19
        ; %4 = cast f32 %3
   36d  vpmovzxbd zmm21, xmm19
   373  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   379  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   37f  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   385  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   38b  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm19
        ; addresses
   392  add rsi, 0x10
   396  add rbx, 0x30
   39a  sub r8, 0x10
   39e  ja .L8
.L9:
        ; next iteration
   3a0  mov rax, qword ptr [rdi + 0x10]
   3a4  add r9, qword ptr [rax]
   3a7  mov rcx, qword ptr [rax + 0x8]
   3ab  add qword ptr [rsp], rcx
   3af  mov rcx, qword ptr [rax + 0x10]
   3b3  add qword ptr [rsp + 0x8], rcx
   3b8  mov rcx, qword ptr [rax + 0x18]
   3bc  add qword ptr [rsp + 0x10], rcx
   3c1  dec qword ptr [rsp + 0x30]
   3c6  jne .L1
        ; return
   3cc  mov rsp, qword ptr [rsp + 0x28]
   3d1  pop rbx
   3d2  ret
