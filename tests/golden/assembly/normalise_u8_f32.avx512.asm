        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x140
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0x108], rax
        ; %0 = param f32 #0
    17  mov rax, qword ptr [rdi + 0x18]
    1b  vpbroadcastd zmm16, dword ptr [rax]
    21  mov rax, qword ptr [rdi + 0x8]
    25  cmp qword ptr [rax + 0x8], 0x46
    2a  jb .L0
    30  vmovups zmm17, zmmword ptr [rip - 0x7a]
    3a  vdivps zmm17, zmm17, zmm16
    40  vmovups zmmword ptr [rsp + 0x40], zmm17
    48  vpsubd zmm17, zmm16, zmmword ptr [rip - 0xd2]
    52  vpcmpnleud k2, zmm17, zmmword ptr [rip - 0x11d]
    5d  kmovw eax, k2
    61  mov dword ptr [rsp + 0x80], eax
.L0:
        ; enter a loop
    68  mov rax, qword ptr [rdi + 0x8]
    6c  mov rax, qword ptr [rax]
    6f  mov qword ptr [rsp + 0x110], rax
    77  mov rcx, qword ptr [rdi]
    7a  mov r9, qword ptr [rcx]
    7d  mov rax, qword ptr [rcx + 0x8]
    81  mov qword ptr [rsp], rax
    85  mov rax, qword ptr [rcx + 0x10]
    89  mov qword ptr [rsp + 0x8], rax
    8e  mov rax, qword ptr [rcx + 0x18]
    92  mov qword ptr [rsp + 0x10], rax
.L1:
    97  mov rax, qword ptr [rdi + 0x8]
    9b  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    9f  mov rbx, qword ptr [rsp]
    a3  xor esi, esi
        ; %1 = load f32 $2
    a5  mov rax, qword ptr [rsp + 0x8]
    aa  vpbroadcastd zmm17, dword ptr [rax]
    b0  mov rax, qword ptr [rdi + 0x8]
    b4  cmp qword ptr [rax + 0x8], 0x46
    b9  jb .L2
    bf  vpaddd zmm18, zmm17, zmm17
    c5  vpsubd zmm18, zmm18, zmmword ptr [rip - 0x1cf]
    cf  vpcmpnleud k2, zmm18, zmmword ptr [rip - 0x21a]
    da  vptestmd k2 {k2}, zmm17, zmm17
    e0  kmovw eax, k2
    e4  or eax, dword ptr [rsp + 0x80]
    eb  mov dword ptr [rsp + 0x104], eax
.L2:
        ; %2 = load f32 $3
    f2  mov rax, qword ptr [rsp + 0x10]
    f7  vpbroadcastd zmm18, dword ptr [rax]
    fd  mov rax, qword ptr [rdi + 0x8]
   101  cmp qword ptr [rax + 0x8], 0x46
   106  jb .L3
   10c  vmovups zmm19, zmmword ptr [rip - 0x156]
   116  vdivps zmm19, zmm19, zmm18
   11c  vmovups zmmword ptr [rsp + 0xc0], zmm19
   124  vpsubd zmm19, zmm18, zmmword ptr [rip - 0x1ae]
   12e  vpcmpnleud k2, zmm19, zmmword ptr [rip - 0x1f9]
   139  kmovw eax, k2
   13d  mov dword ptr [rsp + 0x100], eax
.L3:
        ; vectors
   144  sub r8, 0x46
   148  jb .L5
   14e  mov eax, dword ptr [rsp + 0x80]
   155  or eax, dword ptr [rsp + 0x100]
   15c  or eax, dword ptr [rsp + 0x104]
   163  test eax, eax
   165  jne .L5
   16b  nop word ptr [rax + rax]
   174  nop word ptr [rax + rax]
   17d  nop dword ptr [rax]
.L4:
        ; %3 = load u8 $1
   180  vmovups zmm20, zmmword ptr [rip - 0x30a]
   18a  vpermb zmm19, zmm20, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   190  vpmovzxbd zmm21, xmm19
   196  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   19c  vmulps zmm19, zmm20, zmmword ptr [rsp + 0x40]
   1a4  vmovaps zmm21, zmm19
   1aa  vfmsub213ps zmm21, zmm16, zmm20
   1b0  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0x40]
        ; %6 = sub f32 %5, %1
   1b8  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   1be  vmulps zmm19, zmm20, zmmword ptr [rsp + 0xc0]
   1c6  vmovaps zmm21, zmm19
   1cc  vfmsub213ps zmm21, zmm18, zmm20
   1d2  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0xc0]
        ; store f32 $0 %7
   1da  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; %3 = load u8 $1
   1e1  vmovups zmm20, zmmword ptr [rip - 0x36b]
   1eb  vpermb zmm19, zmm20, zmmword ptr [rbx + 0x30]
        ; %4 = cast f32 %3
   1f5  vpmovzxbd zmm21, xmm19
   1fb  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   201  vmulps zmm19, zmm20, zmmword ptr [rsp + 0x40]
   209  vmovaps zmm21, zmm19
   20f  vfmsub213ps zmm21, zmm16, zmm20
   215  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0x40]
        ; %6 = sub f32 %5, %1
   21d  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   223  vmulps zmm19, zmm20, zmmword ptr [rsp + 0xc0]
   22b  vmovaps zmm21, zmm19
   231  vfmsub213ps zmm21, zmm18, zmm20
   237  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0xc0]
        ; store f32 $0 %7
   23f  vmovups zmmword ptr [r9 + 4*rsi + 0x40], zmm19
        ; %3 = load u8 $1
   247  vmovups zmm20, zmmword ptr [rip - 0x3d1]
   251  vpermb zmm19, zmm20, zmmword ptr [rbx + 0x60]
        ; %4 = cast f32 %3
   25b  vpmovzxbd zmm21, xmm19
   261  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   267  vmulps zmm19, zmm20, zmmword ptr [rsp + 0x40]
   26f  vmovaps zmm21, zmm19
   275  vfmsub213ps zmm21, zmm16, zmm20
   27b  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0x40]
        ; %6 = sub f32 %5, %1
   283  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   289  vmulps zmm19, zmm20, zmmword ptr [rsp + 0xc0]
   291  vmovaps zmm21, zmm19
   297  vfmsub213ps zmm21, zmm18, zmm20
   29d  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0xc0]
        ; store f32 $0 %7
   2a5  vmovups zmmword ptr [r9 + 4*rsi + 0x80], zmm19
        ; %3 = load u8 $1
   2ad  vmovups zmm20, zmmword ptr [rip - 0x437]
   2b7  vpermb zmm19, zmm20, zmmword ptr [rbx + 0x90]
        ; %4 = cast f32 %3
   2c1  vpmovzxbd zmm21, xmm19
   2c7  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   2cd  vmulps zmm19, zmm20, zmmword ptr [rsp + 0x40]
   2d5  vmovaps zmm21, zmm19
   2db  vfmsub213ps zmm21, zmm16, zmm20
   2e1  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0x40]
        ; %6 = sub f32 %5, %1
   2e9  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   2ef  vmulps zmm19, zmm20, zmmword ptr [rsp + 0xc0]
   2f7  vmovaps zmm21, zmm19
   2fd  vfmsub213ps zmm21, zmm18, zmm20
   303  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0xc0]
        ; store f32 $0 %7
   30b  vmovups zmmword ptr [r9 + 4*rsi + 0xc0], zmm19
        ; addresses
   313  add rsi, 0x40
   317  add rbx, 0xc0
   31e  sub r8, 0x40
   322  jae .L4
.L5:
   328  add r8, 0x30
   32c  js .L7
   332  nop word ptr [rax + rax]
   33b  nop dword ptr [rax + rax]
.L6:
        ; %3 = load u8 $1
   340  vmovups zmm20, zmmword ptr [rip - 0x4ca]
   34a  vpermb zmm19, zmm20, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   350  vpmovzxbd zmm21, xmm19
   356  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   35c  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   362  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   368  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   36e  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; addresses
   375  add rsi, 0x10
   379  add rbx, 0x30
   37d  sub r8, 0x10
   381  jae .L6
.L7:
   383  add r8, 0x16
   387  je .L9
.L8:
        ; tail
   38d  mov r11d, 0x10
   393  cmp r8, r11
   396  cmovb r11, r8
   39a  mov eax, 0xffffffff
   39f  bzhi eax, eax, r11d
   3a4  kmovd k1, eax
        ; %3 = load u8 $1
   3a8  imul rcx, r11, 0x3
   3ac  sub rcx, 0x2
   3b0  mov rdx, -0x1
   3b7  bzhi rdx, rdx, rcx
   3bc  kmovq k2, rdx
   3c1  vmovdqu8 zmm19 {k2} {z}, zmmword ptr [rbx]
   3c7  xor edx, edx
   3c9  sub rcx, 0x40
   3cd  cmovs rcx, rdx
   3d1  vmovups zmm20, zmmword ptr [rip - 0x55b]
   3db  vpermb zmm19, zmm20, zmm19
        ; %4 = cast f32 %3
   3e1  vpmovzxbd zmm21, xmm19
   3e7  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   3ed  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   3f3  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   3f9  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   3ff  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm19
        ; addresses
   406  add rsi, 0x10
   40a  add rbx, 0x30
   40e  sub r8, 0x10
   412  ja .L8
.L9:
        ; next iteration
   418  mov rax, qword ptr [rdi + 0x10]
   41c  add r9, qword ptr [rax]
   41f  mov rcx, qword ptr [rax + 0x8]
   423  add qword ptr [rsp], rcx
   427  mov rcx, qword ptr [rax + 0x10]
   42b  add qword ptr [rsp + 0x8], rcx
   430  mov rcx, qword ptr [rax + 0x18]
   434  add qword ptr [rsp + 0x10], rcx
   439  dec qword ptr [rsp + 0x110]
   441  jne .L1
        ; return
   447  mov rsp, qword ptr [rsp + 0x108]
   44f  pop rbx
   450  ret
