        ; entry
     0  mov rcx, qword ptr [rdi]
     3  mov rdx, qword ptr [rcx]
     6  mov r9, qword ptr [rcx + 0x8]
     a  mov rax, qword ptr [rdi + 0x8]
     e  mov r8, qword ptr [rax]
        ; start of the innermost loop
    11  xor esi, esi
        ; vectors
    13  sub r8, 0x40
    17  jb .L1
    1d  nop dword ptr [rax]
.L0:
        ; %0 = load f32 $1
    20  vmovups zmm16, zmmword ptr [r9 + 4*rsi]
    27  vmovups zmm17, zmmword ptr [r9 + 4*rsi + 0x40]
    2f  vmovups zmm18, zmmword ptr [r9 + 4*rsi + 0x80]
    37  vmovups zmm19, zmmword ptr [r9 + 4*rsi + 0xc0]
        ; %1 = cast f16 %0
    3f  vcvtps2ph ymm20, zmm16, 0x0
    46  vcvtps2ph ymm16, zmm17, 0x0
    4d  vcvtps2ph ymm17, zmm18, 0x0
    54  vcvtps2ph ymm18, zmm19, 0x0
        ; store f16 $0 %1
    5b  vmovups ymmword ptr [rdx + 2*rsi], ymm20
    62  vmovups ymmword ptr [rdx + 2*rsi + 0x20], ymm16
    6a  vmovups ymmword ptr [rdx + 2*rsi + 0x40], ymm17
    72  vmovups ymmword ptr [rdx + 2*rsi + 0x60], ymm18
        ; addresses
    7a  add rsi, 0x40
    7e  sub r8, 0x40
    82  jae .L0
.L1:
    84  add r8, 0x30
    88  js .L3
    8e  nop word ptr [rax + rax]
    97  nop word ptr [rax + rax]
.L2:
        ; %0 = load f32 $1
    a0  vmovups zmm16, zmmword ptr [r9 + 4*rsi]
        ; %1 = cast f16 %0
    a7  vcvtps2ph ymm17, zmm16, 0x0
        ; store f16 $0 %1
    ae  vmovups ymmword ptr [rdx + 2*rsi], ymm17
        ; addresses
    b5  add rsi, 0x10
    b9  sub r8, 0x10
    bd  jae .L2
.L3:
    bf  add r8, 0x10
    c3  je .L4
        ; tail
    c9  mov eax, 0xffffffff
    ce  bzhi eax, eax, r8d
    d3  kmovd k1, eax
        ; %0 = load f32 $1
    d7  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %1 = cast f16 %0
    de  vcvtps2ph ymm17, zmm16, 0x0
        ; store f16 $0 %1
    e5  vmovdqu16 ymmword ptr [rdx + 2*rsi] {k1}, ymm17
.L4:
        ; return
    ec  ret
