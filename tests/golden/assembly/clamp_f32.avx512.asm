        ; %0 = param f32 #0
     0  mov rax, qword ptr [rdi + 0x18]
     4  vpbroadcastd zmm16, dword ptr [rax]
        ; %1 = param f32 #1
     a  mov rax, qword ptr [rdi + 0x18]
     e  vpbroadcastd zmm17, dword ptr [rax + 0x10]
    15  mov rcx, qword ptr [rdi]
    18  mov rdx, qword ptr [rcx]
    1b  mov r9, qword ptr [rcx + 0x8]
    1f  mov rax, qword ptr [rdi + 0x8]
    23  mov r8, qword ptr [rax]
        ; start of the innermost loop
    26  xor esi, esi
        ; vectors
    28  sub r8, 0x40
    2c  jb .L1
    32  nop word ptr [rax + rax]
    3b  nop dword ptr [rax + rax]
.L0:
        ; %2 = load f32 $1
    40  vmovups zmm18, zmmword ptr [r9 + 4*rsi]
    47  vmovups zmm19, zmmword ptr [r9 + 4*rsi + 0x40]
    4f  vmovups zmm20, zmmword ptr [r9 + 4*rsi + 0x80]
    57  vmovups zmm21, zmmword ptr [r9 + 4*rsi + 0xc0]
        ; %3 = maximum f32 %2, %0
    5f  vmaxps zmm22, zmm18, zmm16
    65  vfixupimmps zmm22, zmm18, zmmword ptr [rip - 0xb0], 0x0
    70  vmaxps zmm18, zmm19, zmm16
    76  vfixupimmps zmm18, zmm19, zmmword ptr [rip - 0xc1], 0x0
    81  vmaxps zmm19, zmm20, zmm16
    87  vfixupimmps zmm19, zmm20, zmmword ptr [rip - 0xd2], 0x0
    92  vmaxps zmm20, zmm21, zmm16
    98  vfixupimmps zmm20, zmm21, zmmword ptr [rip - 0xe3], 0x0
        ; %4 = minimum f32 %3, %1
    a3  vminps zmm21, zmm22, zmm17
    a9  vfixupimmps zmm21, zmm22, zmmword ptr [rip - 0xf4], 0x0
    b4  vminps zmm22, zmm18, zmm17
    ba  vfixupimmps zmm22, zmm18, zmmword ptr [rip - 0x105], 0x0
    c5  vminps zmm18, zmm19, zmm17
    cb  vfixupimmps zmm18, zmm19, zmmword ptr [rip - 0x116], 0x0
    d6  vminps zmm19, zmm20, zmm17
    dc  vfixupimmps zmm19, zmm20, zmmword ptr [rip - 0x127], 0x0
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
        ; %3 = maximum f32 %2, %0
   127  vmaxps zmm19, zmm18, zmm16
   12d  vfixupimmps zmm19, zmm18, zmmword ptr [rip - 0x178], 0x0
        ; %4 = minimum f32 %3, %1
   138  vminps zmm18, zmm19, zmm17
   13e  vfixupimmps zmm18, zmm19, zmmword ptr [rip - 0x189], 0x0
        ; store f32 $0 %4
   149  vmovups zmmword ptr [rdx + 4*rsi], zmm18
        ; addresses
   150  add rsi, 0x10
   154  sub r8, 0x10
   158  jae .L2
.L3:
   15a  add r8, 0x10
   15e  je .L4
        ; tail
   164  mov eax, 0xffffffff
   169  bzhi eax, eax, r8d
   16e  kmovd k1, eax
        ; %2 = load f32 $1
   172  vmovdqu32 zmm18 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %3 = maximum f32 %2, %0
   179  vmaxps zmm19, zmm18, zmm16
   17f  vfixupimmps zmm19, zmm18, zmmword ptr [rip - 0x1ca], 0x0
        ; %4 = minimum f32 %3, %1
   18a  vminps zmm18, zmm19, zmm17
   190  vfixupimmps zmm18, zmm19, zmmword ptr [rip - 0x1db], 0x0
        ; store f32 $0 %4
   19b  vmovdqu32 zmmword ptr [rdx + 4*rsi] {k1}, zmm18
.L4:
        ; return
   1a2  ret
