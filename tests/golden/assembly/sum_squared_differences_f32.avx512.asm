        ; entry
     0  mov rax, rsp
     3  sub rsp, 0x40
     a  and rsp, -0x40
     e  mov qword ptr [rsp + 0x8], rax
        ; enter a loop
    13  mov rax, qword ptr [rdi + 0x8]
    17  mov rax, qword ptr [rax]
    1a  mov qword ptr [rsp + 0x10], rax
    1f  mov rax, qword ptr [rdi]
    22  mov rax, qword ptr [rax]
    25  mov qword ptr [rsp + 0x20], rax
    2a  mov rax, qword ptr [rdi]
    2d  mov rax, qword ptr [rax + 0x8]
    31  mov qword ptr [rsp + 0x28], rax
    36  mov rax, qword ptr [rdi]
    39  mov rax, qword ptr [rax + 0x10]
    3d  mov qword ptr [rsp + 0x30], rax
.L0:
        ; enter a loop
    42  mov rax, qword ptr [rdi + 0x8]
    46  mov rax, qword ptr [rax + 0x8]
    4a  mov qword ptr [rsp + 0x18], rax
    4f  mov rax, qword ptr [rsp + 0x20]
    54  mov qword ptr [rsp], rax
    58  mov rdx, qword ptr [rsp + 0x28]
    5d  mov r9, qword ptr [rsp + 0x30]
.L1:
    62  mov rax, qword ptr [rdi + 0x8]
    66  mov r8, qword ptr [rax + 0x10]
        ; start of a row
    6a  xor esi, esi
    6c  sub r8, 0x40
    70  jb .L3
        ; partial results
    76  mov rax, qword ptr [rsp]
    7a  vmovups zmm31, zmmword ptr [rax]
    80  mov rax, qword ptr [rsp]
    84  vmovups zmm30, zmmword ptr [rax + 0x40]
    8b  mov rax, qword ptr [rsp]
    8f  vmovups zmm29, zmmword ptr [rax + 0x80]
    96  mov rax, qword ptr [rsp]
    9a  vmovups zmm28, zmmword ptr [rax + 0xc0]
    a1  nop word ptr [rax + rax]
    aa  nop word ptr [rax + rax]
    b3  nop word ptr [rax + rax]
    bc  nop dword ptr [rax]
.L2:
        ; %0 = load f32 $1
    c0  vmovups zmm16, zmmword ptr [rdx + 4*rsi]
        ; %1 = load f32 $2
    c7  vmovups zmm17, zmmword ptr [r9 + 4*rsi]
        ; %2 = sub f32 %0, %1
    ce  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
    d4  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
    da  vaddps zmm31, zmm31, zmm16
        ; %0 = load f32 $1
    e0  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0x40]
        ; %1 = load f32 $2
    e8  vmovups zmm17, zmmword ptr [r9 + 4*rsi + 0x40]
        ; %2 = sub f32 %0, %1
    f0  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
    f6  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
    fc  vaddps zmm30, zmm30, zmm16
        ; %0 = load f32 $1
   102  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0x80]
        ; %1 = load f32 $2
   10a  vmovups zmm17, zmmword ptr [r9 + 4*rsi + 0x80]
        ; %2 = sub f32 %0, %1
   112  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
   118  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
   11e  vaddps zmm29, zmm29, zmm16
        ; %0 = load f32 $1
   124  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0xc0]
        ; %1 = load f32 $2
   12c  vmovups zmm17, zmmword ptr [r9 + 4*rsi + 0xc0]
        ; %2 = sub f32 %0, %1
   134  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
   13a  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
   140  vaddps zmm28, zmm28, zmm16
        ; addresses
   146  add rsi, 0x40
   14a  sub r8, 0x40
   14e  jae .L2
        ; partial results
   154  mov rax, qword ptr [rsp]
   158  vmovups zmmword ptr [rax], zmm31
   15e  mov rax, qword ptr [rsp]
   162  vmovups zmmword ptr [rax + 0x40], zmm30
   169  mov rax, qword ptr [rsp]
   16d  vmovups zmmword ptr [rax + 0x80], zmm29
   174  mov rax, qword ptr [rsp]
   178  vmovups zmmword ptr [rax + 0xc0], zmm28
.L3:
   17f  add r8, 0x40
        ; vectors
   183  sub r8, 0x10
   187  jb .L5
   18d  nop word ptr [rax + rax]
   196  nop word ptr [rax + rax]
   19f  nop
.L4:
        ; %0 = load f32 $1
   1a0  vmovups zmm16, zmmword ptr [rdx + 4*rsi]
        ; %1 = load f32 $2
   1a7  vmovups zmm17, zmmword ptr [r9 + 4*rsi]
        ; %2 = sub f32 %0, %1
   1ae  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
   1b4  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
   1ba  mov ecx, esi
   1bc  and ecx, 0x3f
   1bf  mov rax, qword ptr [rsp]
   1c3  vmovups zmm18, zmmword ptr [rax + 4*rcx]
   1ca  vaddps zmm17, zmm18, zmm16
   1d0  mov ecx, esi
   1d2  and ecx, 0x3f
   1d5  mov rax, qword ptr [rsp]
   1d9  vmovups zmmword ptr [rax + 4*rcx], zmm17
        ; addresses
   1e0  add rsi, 0x10
   1e4  sub r8, 0x10
   1e8  jae .L4
.L5:
   1ea  add r8, 0x10
   1ee  je .L6
        ; tail
   1f4  mov eax, 0xffffffff
   1f9  bzhi eax, eax, r8d
   1fe  kmovd k1, eax
        ; %0 = load f32 $1
   202  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rdx + 4*rsi]
        ; %1 = load f32 $2
   209  vmovdqu32 zmm17 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %2 = sub f32 %0, %1
   210  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
   216  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
   21c  mov ecx, esi
   21e  and ecx, 0x3f
   221  mov rax, qword ptr [rsp]
   225  vmovups zmm18, zmmword ptr [rax + 4*rcx]
   22c  vaddps zmm17, zmm18, zmm16
   232  vmovdqa32 zmm18 {k1}, zmm17
   238  mov ecx, esi
   23a  and ecx, 0x3f
   23d  mov rax, qword ptr [rsp]
   241  vmovups zmmword ptr [rax + 4*rcx], zmm18
.L6:
        ; next iteration
   248  mov rax, qword ptr [rdi + 0x10]
   24c  add rdx, qword ptr [rax + 0x20]
   250  add r9, qword ptr [rax + 0x28]
   254  dec qword ptr [rsp + 0x18]
   259  jne .L1
        ; next iteration
   25f  mov rax, qword ptr [rdi + 0x10]
   263  mov rcx, qword ptr [rax]
   266  add qword ptr [rsp + 0x20], rcx
   26b  mov rcx, qword ptr [rax + 0x8]
   26f  add qword ptr [rsp + 0x28], rcx
   274  mov rcx, qword ptr [rax + 0x10]
   278  add qword ptr [rsp + 0x30], rcx
   27d  dec qword ptr [rsp + 0x10]
   282  jne .L0
        ; return
   288  mov rsp, qword ptr [rsp + 0x8]
   28d  ret
