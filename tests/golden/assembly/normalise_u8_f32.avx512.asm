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
        ; %2 = load f32 $3
    b0  mov rax, qword ptr [rsp + 0x10]
    b5  vpbroadcastd zmm18, dword ptr [rax]
    bb  mov rax, qword ptr [rdi + 0x8]
    bf  cmp qword ptr [rax + 0x8], 0x46
    c4  jb .L2
    ca  vmovups zmm19, zmmword ptr [rip - 0x114]
    d4  vdivps zmm19, zmm19, zmm18
    da  vmovups zmmword ptr [rsp + 0xc0], zmm19
    e2  vpsubd zmm19, zmm18, zmmword ptr [rip - 0x16c]
    ec  vpcmpnleud k2, zmm19, zmmword ptr [rip - 0x1b7]
    f7  kmovw eax, k2
    fb  mov dword ptr [rsp + 0x100], eax
.L2:
        ; vectors
   102  sub r8, 0x46
   106  jb .L12
   10c  nop word ptr [rax + rax]
   115  nop word ptr [rax + rax]
   11e  nop
.L3:
        ; %3 = load u8 $1
   120  vmovups zmm20, zmmword ptr [rip - 0x22a]
   12a  vpermb zmm19, zmm20, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   130  vpmovzxbd zmm21, xmm19
   136  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   13c  cmp dword ptr [rsp + 0x80], 0x0
   144  jne .L17
   14a  vmulps zmm19, zmm20, zmmword ptr [rsp + 0x40]
   152  vmovaps zmm21, zmm19
   158  vfmsub213ps zmm21, zmm16, zmm20
   15e  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0x40]
.L4:
        ; %6 = sub f32 %5, %1
   166  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   16c  cmp dword ptr [rsp + 0x100], 0x0
   174  jne .L18
   17a  vmulps zmm19, zmm20, zmmword ptr [rsp + 0xc0]
   182  vmovaps zmm21, zmm19
   188  vfmsub213ps zmm21, zmm18, zmm20
   18e  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0xc0]
   196  vpaddd zmm21, zmm20, zmm20
   19c  vpsubd zmm21, zmm21, zmmword ptr [rip - 0x2e6]
   1a6  vpcmpnleud k2, zmm21, zmmword ptr [rip - 0x331]
   1b1  vptestmd k2 {k2}, zmm20, zmm20
   1b7  kortestw k2, k2
   1bb  jne .L18
.L5:
        ; store f32 $0 %7
   1c1  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; %3 = load u8 $1
   1c8  vmovups zmm20, zmmword ptr [rip - 0x2d2]
   1d2  vpermb zmm19, zmm20, zmmword ptr [rbx + 0x30]
        ; %4 = cast f32 %3
   1dc  vpmovzxbd zmm21, xmm19
   1e2  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   1e8  cmp dword ptr [rsp + 0x80], 0x0
   1f0  jne .L19
   1f6  vmulps zmm19, zmm20, zmmword ptr [rsp + 0x40]
   1fe  vmovaps zmm21, zmm19
   204  vfmsub213ps zmm21, zmm16, zmm20
   20a  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0x40]
.L6:
        ; %6 = sub f32 %5, %1
   212  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   218  cmp dword ptr [rsp + 0x100], 0x0
   220  jne .L20
   226  vmulps zmm19, zmm20, zmmword ptr [rsp + 0xc0]
   22e  vmovaps zmm21, zmm19
   234  vfmsub213ps zmm21, zmm18, zmm20
   23a  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0xc0]
   242  vpaddd zmm21, zmm20, zmm20
   248  vpsubd zmm21, zmm21, zmmword ptr [rip - 0x392]
   252  vpcmpnleud k2, zmm21, zmmword ptr [rip - 0x3dd]
   25d  vptestmd k2 {k2}, zmm20, zmm20
   263  kortestw k2, k2
   267  jne .L20
.L7:
        ; store f32 $0 %7
   26d  vmovups zmmword ptr [r9 + 4*rsi + 0x40], zmm19
        ; %3 = load u8 $1
   275  vmovups zmm20, zmmword ptr [rip - 0x37f]
   27f  vpermb zmm19, zmm20, zmmword ptr [rbx + 0x60]
        ; %4 = cast f32 %3
   289  vpmovzxbd zmm21, xmm19
   28f  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   295  cmp dword ptr [rsp + 0x80], 0x0
   29d  jne .L21
   2a3  vmulps zmm19, zmm20, zmmword ptr [rsp + 0x40]
   2ab  vmovaps zmm21, zmm19
   2b1  vfmsub213ps zmm21, zmm16, zmm20
   2b7  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0x40]
.L8:
        ; %6 = sub f32 %5, %1
   2bf  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   2c5  cmp dword ptr [rsp + 0x100], 0x0
   2cd  jne .L22
   2d3  vmulps zmm19, zmm20, zmmword ptr [rsp + 0xc0]
   2db  vmovaps zmm21, zmm19
   2e1  vfmsub213ps zmm21, zmm18, zmm20
   2e7  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0xc0]
   2ef  vpaddd zmm21, zmm20, zmm20
   2f5  vpsubd zmm21, zmm21, zmmword ptr [rip - 0x43f]
   2ff  vpcmpnleud k2, zmm21, zmmword ptr [rip - 0x48a]
   30a  vptestmd k2 {k2}, zmm20, zmm20
   310  kortestw k2, k2
   314  jne .L22
.L9:
        ; store f32 $0 %7
   31a  vmovups zmmword ptr [r9 + 4*rsi + 0x80], zmm19
        ; %3 = load u8 $1
   322  vmovups zmm20, zmmword ptr [rip - 0x42c]
   32c  vpermb zmm19, zmm20, zmmword ptr [rbx + 0x90]
        ; %4 = cast f32 %3
   336  vpmovzxbd zmm21, xmm19
   33c  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   342  cmp dword ptr [rsp + 0x80], 0x0
   34a  jne .L23
   350  vmulps zmm19, zmm20, zmmword ptr [rsp + 0x40]
   358  vmovaps zmm21, zmm19
   35e  vfmsub213ps zmm21, zmm16, zmm20
   364  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0x40]
.L10:
        ; %6 = sub f32 %5, %1
   36c  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   372  cmp dword ptr [rsp + 0x100], 0x0
   37a  jne .L24
   380  vmulps zmm19, zmm20, zmmword ptr [rsp + 0xc0]
   388  vmovaps zmm21, zmm19
   38e  vfmsub213ps zmm21, zmm18, zmm20
   394  vfnmadd231ps zmm19, zmm21, zmmword ptr [rsp + 0xc0]
   39c  vpaddd zmm21, zmm20, zmm20
   3a2  vpsubd zmm21, zmm21, zmmword ptr [rip - 0x4ec]
   3ac  vpcmpnleud k2, zmm21, zmmword ptr [rip - 0x537]
   3b7  vptestmd k2 {k2}, zmm20, zmm20
   3bd  kortestw k2, k2
   3c1  jne .L24
.L11:
        ; store f32 $0 %7
   3c7  vmovups zmmword ptr [r9 + 4*rsi + 0xc0], zmm19
        ; addresses
   3cf  add rsi, 0x40
   3d3  add rbx, 0xc0
   3da  sub r8, 0x40
   3de  jae .L3
.L12:
   3e4  add r8, 0x30
   3e8  js .L14
   3ee  nop word ptr [rax + rax]
   3f7  nop word ptr [rax + rax]
.L13:
        ; %3 = load u8 $1
   400  vmovups zmm20, zmmword ptr [rip - 0x50a]
   40a  vpermb zmm19, zmm20, zmmword ptr [rbx]
        ; %4 = cast f32 %3
   410  vpmovzxbd zmm21, xmm19
   416  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   41c  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   422  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   428  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   42e  vmovups zmmword ptr [r9 + 4*rsi], zmm19
        ; addresses
   435  add rsi, 0x10
   439  add rbx, 0x30
   43d  sub r8, 0x10
   441  jae .L13
.L14:
   443  add r8, 0x16
   447  je .L16
.L15:
        ; tail
   44d  mov r11d, 0x10
   453  cmp r8, r11
   456  cmovb r11, r8
   45a  mov eax, 0xffffffff
   45f  bzhi eax, eax, r11d
   464  kmovd k1, eax
        ; %3 = load u8 $1
   468  imul rcx, r11, 0x3
   46c  sub rcx, 0x2
   470  mov rdx, -0x1
   477  bzhi rdx, rdx, rcx
   47c  kmovq k2, rdx
   481  vmovdqu8 zmm19 {k2} {z}, zmmword ptr [rbx]
   487  xor edx, edx
   489  sub rcx, 0x40
   48d  cmovs rcx, rdx
   491  vmovups zmm20, zmmword ptr [rip - 0x59b]
   49b  vpermb zmm19, zmm20, zmm19
        ; %4 = cast f32 %3
   4a1  vpmovzxbd zmm21, xmm19
   4a7  vcvtdq2ps zmm20, zmm21
        ; %5 = div f32 %4, %0
   4ad  vdivps zmm19, zmm20, zmm16
        ; %6 = sub f32 %5, %1
   4b3  vsubps zmm20, zmm19, zmm17
        ; %7 = div f32 %6, %2
   4b9  vdivps zmm19, zmm20, zmm18
        ; store f32 $0 %7
   4bf  vmovdqu32 zmmword ptr [r9 + 4*rsi] {k1}, zmm19
        ; addresses
   4c6  add rsi, 0x10
   4ca  add rbx, 0x30
   4ce  sub r8, 0x10
   4d2  ja .L15
.L16:
        ; next iteration
   4d8  mov rax, qword ptr [rdi + 0x10]
   4dc  add r9, qword ptr [rax]
   4df  mov rcx, qword ptr [rax + 0x8]
   4e3  add qword ptr [rsp], rcx
   4e7  mov rcx, qword ptr [rax + 0x10]
   4eb  add qword ptr [rsp + 0x8], rcx
   4f0  mov rcx, qword ptr [rax + 0x18]
   4f4  add qword ptr [rsp + 0x10], rcx
   4f9  dec qword ptr [rsp + 0x110]
   501  jne .L1
        ; return
   507  mov rsp, qword ptr [rsp + 0x108]
   50f  pop rbx
   510  ret
.L17:
        ; division
   511  vdivps zmm19, zmm20, zmm16
   517  jmp .L4
.L18:
        ; division
   51c  vdivps zmm19, zmm20, zmm18
   522  jmp .L5
.L19:
        ; division
   527  vdivps zmm19, zmm20, zmm16
   52d  jmp .L6
.L20:
        ; division
   532  vdivps zmm19, zmm20, zmm18
   538  jmp .L7
.L21:
        ; division
   53d  vdivps zmm19, zmm20, zmm16
   543  jmp .L8
.L22:
        ; division
   548  vdivps zmm19, zmm20, zmm18
   54e  jmp .L9
.L23:
        ; division
   553  vdivps zmm19, zmm20, zmm16
   559  jmp .L10
.L24:
        ; division
   55e  vdivps zmm19, zmm20, zmm18
   564  jmp .L11
