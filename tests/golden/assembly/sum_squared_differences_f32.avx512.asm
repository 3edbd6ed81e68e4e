        ; entry
     0  mov rax, rsp
     3  sub rsp, 0x40
     a  and rsp, -0x40
     e  mov qword ptr [rsp], rax
        ; enter a loop
    12  mov rax, qword ptr [rdi + 0x8]
    16  mov rax, qword ptr [rax]
    19  mov qword ptr [rsp + 0x8], rax
    1e  mov rax, qword ptr [rdi]
    21  mov rax, qword ptr [rax]
    24  mov qword ptr [rsp + 0x18], rax
    29  mov rax, qword ptr [rdi]
    2c  mov rax, qword ptr [rax + 0x8]
    30  mov qword ptr [rsp + 0x20], rax
    35  mov rax, qword ptr [rdi]
    38  mov rax, qword ptr [rax + 0x10]
    3c  mov qword ptr [rsp + 0x28], rax
.L0:
        ; enter a loop
    41  mov rax, qword ptr [rdi + 0x8]
    45  mov rax, qword ptr [rax + 0x8]
    49  mov r11, rax
    4c  mov r10, qword ptr [rsp + 0x18]
    51  mov rdx, qword ptr [rsp + 0x20]
    56  mov r9, qword ptr [rsp + 0x28]
.L1:
    5b  mov rax, qword ptr [rdi + 0x8]
    5f  mov r8, qword ptr [rax + 0x10]
        ; start of a row
    63  xor esi, esi
    65  sub r8, 0x40
    69  jb .L3
        ; partial results
    6f  vmovups zmm31, zmmword ptr [r10]
    75  vmovups zmm30, zmmword ptr [r10 + 0x40]
    7c  vmovups zmm29, zmmword ptr [r10 + 0x80]
    83  vmovups zmm28, zmmword ptr [r10 + 0xc0]
    8a  nop word ptr [rax + rax]
    93  nop word ptr [rax + rax]
    9c  nop dword ptr [rax]
.L2:
        ; %0 = load f32 $1
    a0  vmovups zmm16, zmmword ptr [rdx + 4*rsi]
        ; %1 = load f32 $2
    a7  vmovups zmm17, zmmword ptr [r9 + 4*rsi]
        ; %2 = sub f32 %0, %1
    ae  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
    b4  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
    ba  vaddps zmm31, zmm31, zmm16
        ; %0 = load f32 $1
    c0  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0x40]
        ; %1 = load f32 $2
    c8  vmovups zmm17, zmmword ptr [r9 + 4*rsi + 0x40]
        ; %2 = sub f32 %0, %1
    d0  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
    d6  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
    dc  vaddps zmm30, zmm30, zmm16
        ; %0 = load f32 $1
    e2  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0x80]
        ; %1 = load f32 $2
    ea  vmovups zmm17, zmmword ptr [r9 + 4*rsi + 0x80]
        ; %2 = sub f32 %0, %1
    f2  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
    f8  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
    fe  vaddps zmm29, zmm29, zmm16
        ; %0 = load f32 $1
   104  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0xc0]
        ; %1 = load f32 $2
   10c  vmovups zmm17, zmmword ptr [r9 + 4*rsi + 0xc0]
        ; %2 = sub f32 %0, %1
   114  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
   11a  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
   120  vaddps zmm28, zmm28, zmm16
        ; addresses
   126  add rsi, 0x40
   12a  sub r8, 0x40
   12e  jae .L2
        ; partial results
   134  vmovups zmmword ptr [r10], zmm31
   13a  vmovups zmmword ptr [r10 + 0x40], zmm30
   141  vmovups zmmword ptr [r10 + 0x80], zmm29
   148  vmovups zmmword ptr [r10 + 0xc0], zmm28
.L3:
   14f  add r8, 0x40
        ; vectors
   153  sub r8, 0x10
   157  jb .L5
   15d  nop dword ptr [rax]
.L4:
        ; %0 = load f32 $1
   160  vmovups zmm16, zmmword ptr [rdx + 4*rsi]
        ; %1 = load f32 $2
   167  vmovups zmm17, zmmword ptr [r9 + 4*rsi]
        ; %2 = sub f32 %0, %1
   16e  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
   174  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
   17a  mov ecx, esi
   17c  and ecx, 0x3f
   17f  vmovups zmm18, zmmword ptr [r10 + 4*rcx]
   186  vaddps zmm17, zmm18, zmm16
   18c  mov ecx, esi
   18e  and ecx, 0x3f
   191  vmovups zmmword ptr [r10 + 4*rcx], zmm17
        ; addresses
   198  add rsi, 0x10
   19c  sub r8, 0x10
   1a0  jae .L4
.L5:
   1a2  add r8, 0x10
   1a6  je .L6
        ; tail
   1ac  mov eax, 0xffffffff
   1b1  bzhi eax, eax, r8d
   1b6  kmovd k1, eax
        ; %0 = load f32 $1
   1ba  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rdx + 4*rsi]
        ; %1 = load f32 $2
   1c1  vmovdqu32 zmm17 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %2 = sub f32 %0, %1
   1c8  vsubps zmm18, zmm16, zmm17
        ; %3 = mul f32 %2, %2
   1ce  vmulps zmm16, zmm18, zmm18
        ; accumulate f32 $0 add %3
   1d4  mov ecx, esi
   1d6  and ecx, 0x3f
   1d9  vmovups zmm18, zmmword ptr [r10 + 4*rcx]
   1e0  vaddps zmm17, zmm18, zmm16
   1e6  vmovdqa32 zmm18 {k1}, zmm17
   1ec  mov ecx, esi
   1ee  and ecx, 0x3f
   1f1  vmovups zmmword ptr [r10 + 4*rcx], zmm18
.L6:
        ; next iteration
   1f8  mov rax, qword ptr [rdi + 0x10]
   1fc  add rdx, qword ptr [rax + 0x20]
   200  add r9, qword ptr [rax + 0x28]
   204  dec r11
   207  jne .L1
        ; next iteration
   20d  mov rax, qword ptr [rdi + 0x10]
   211  mov rcx, qword ptr [rax]
   214  add qword ptr [rsp + 0x18], rcx
   219  mov rcx, qword ptr [rax + 0x8]
   21d  add qword ptr [rsp + 0x20], rcx
   222  mov rcx, qword ptr [rax + 0x10]
   226  add qword ptr [rsp + 0x28], rcx
   22b  dec qword ptr [rsp + 0x8]
   230  jne .L0
        ; return
   236  mov rsp, qword ptr [rsp]
   23a  ret
