        ; %0 = param f32 #0
     0  mov rax, qword ptr [rdi + 0x18]
     4  vpbroadcastd zmm16, dword ptr [rax]
     a  vcmpunordps k2, zmm16, zmm16
    11  vpmovm2d zmm31, k2
        ; %1 = param f32 #1
    17  mov rax, qword ptr [rdi + 0x18]
    1b  vpbroadcastd zmm17, dword ptr [rax + 0x10]
    22  vcmpunordps k2, zmm17, zmm17
    29  vpmovm2d zmm30, k2
    2f  mov rcx, qword ptr [rdi]
    32  mov rdx, qword ptr [rcx]
    35  mov r9, qword ptr [rcx + 0x8]
    39  mov rax, qword ptr [rdi + 0x8]
    3d  mov r8, qword ptr [rax]
        ; start of the innermost loop
    40  xor esi, esi
        ; vectors
    42  sub r8, 0x40
    46  jb .L1
    4c  nop word ptr [rax + rax]
    55  nop word ptr [rax + rax]
    5e  nop
.L0:
        ; %2 = load f32 $1
    60  vmovups zmm18, zmmword ptr [r9 + 4*rsi]
    67  vmovups zmm19, zmmword ptr [r9 + 4*rsi + 0x40]
    6f  vmovups zmm20, zmmword ptr [r9 + 4*rsi + 0x80]
    77  vmovups zmm21, zmmword ptr [r9 + 4*rsi + 0xc0]
        ; %3 = maximum f32 %0, %2
    7f  vmaxps zmm22, zmm16, zmm18
    85  vpternlogd zmm22, zmm16, zmm31, 0xd8
    8c  vmaxps zmm18, zmm16, zmm19
    92  vpternlogd zmm18, zmm16, zmm31, 0xd8
    99  vmaxps zmm19, zmm16, zmm20
    9f  vpternlogd zmm19, zmm16, zmm31, 0xd8
    a6  vmaxps zmm20, zmm16, zmm21
    ac  vpternlogd zmm20, zmm16, zmm31, 0xd8
        ; %4 = minimum f32 %1, %3
    b3  vminps zmm21, zmm17, zmm22
    b9  vpternlogd zmm21, zmm17, zmm30, 0xd8
    c0  vminps zmm22, zmm17, zmm18
    c6  vpternlogd zmm22, zmm17, zmm30, 0xd8
    cd  vminps zmm18, zmm17, zmm19
    d3  vpternlogd zmm18, zmm17, zmm30, 0xd8
    da  vminps zmm19, zmm17, zmm20
    e0  vpternlogd zmm19, zmm17, zmm30, 0xd8
        ; store f32 $0 %4
    e7  vmovups zmmword ptr [rdx + 4*rsi], zmm21
    ee  vmovups zmmword ptr [rdx + 4*rsi + 0x40], zmm22
    f6  vmovups zmmword ptr [rdx + 4*rsi + 0x80], zmm18
    fe  vmovups zmmword ptr [rdx + 4*rsi + 0xc0], zmm19
        ; addresses
   106  add rsi, 0x40
   10a  sub r8, 0x40
   10e  jae .L0
.L1:
   114  add r8, 0x30
   118  js .L3
   11e  nop
.L2:
        ; %2 = load f32 $1
   120  vmovups zmm18, zmmword ptr [r9 + 4*rsi]
        ; %3 = maximum f32 %0, %2
   127  vmaxps zmm19, zmm16, zmm18
   12d  vpternlogd zmm19, zmm16, zmm31, 0xd8
        ; %4 = minimum f32 %1, %3
   134  vminps zmm18, zmm17, zmm19
   13a  vpternlogd zmm18, zmm17, zmm30, 0xd8
        ; store f32 $0 %4
   141  vmovups zmmword ptr [rdx + 4*rsi], zmm18
        ; addresses
   148  add rsi, 0x10
   14c  sub r8, 0x10
   150  jae .L2
.L3:
   152  add r8, 0x10
   156  je .L4
        ; tail
   15c  mov eax, 0xffffffff
   161  bzhi eax, eax, r8d
   166  kmovd k1, eax
        ; %2 = load f32 $1
   16a  vmovdqu32 zmm18 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %3 = maximum f32 %0, %2
   171  vmaxps zmm19, zmm16, zmm18
   177  vpternlogd zmm19, zmm16, zmm31, 0xd8
        ; %4 = minimum f32 %1, %3
   17e  vminps zmm18, zmm17, zmm19
   184  vpternlogd zmm18, zmm17, zmm30, 0xd8
        ; store f32 $0 %4
   18b  vmovdqu32 zmmword ptr [rdx + 4*rsi] {k1}, zmm18
.L4:
        ; return
   192  ret
