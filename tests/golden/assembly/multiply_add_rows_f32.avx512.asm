        ; entry
     0  mov rax, rsp
     3  sub rsp, 0x40
     a  and rsp, -0x40
     e  mov qword ptr [rsp + 0x8], rax
        ; enter a loop
    13  mov rax, qword ptr [rdi + 0x8]
    17  mov rax, qword ptr [rax]
    1a  mov qword ptr [rsp + 0x10], rax
    1f  mov rcx, qword ptr [rdi]
    22  mov rdx, qword ptr [rcx]
    25  mov r9, qword ptr [rcx + 0x8]
    29  mov rax, qword ptr [rcx + 0x10]
    2d  mov qword ptr [rsp], rax
    31  mov r10, qword ptr [rcx + 0x18]
.L0:
    35  mov rax, qword ptr [rdi + 0x8]
    39  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    3d  xor esi, esi
        ; %0 = load f32 $2
    3f  mov rax, qword ptr [rsp]
    43  vpbroadcastd zmm16, dword ptr [rax]
        ; vectors
    49  sub r8, 0x40
    4d  jb .L2
    53  nop word ptr [rax + rax]
    5c  nop dword ptr [rax]
.L1:
        ; %1 = load f32 $1
    60  vmovups zmm17, zmmword ptr [r9 + 4*rsi]
    67  vmovups zmm18, zmmword ptr [r9 + 4*rsi + 0x40]
    6f  vmovups zmm19, zmmword ptr [r9 + 4*rsi + 0x80]
    77  vmovups zmm20, zmmword ptr [r9 + 4*rsi + 0xc0]
        ; %2 = load f32 $3
    7f  vmovups zmm21, zmmword ptr [r10 + 4*rsi]
    86  vmovups zmm22, zmmword ptr [r10 + 4*rsi + 0x40]
    8e  vmovups zmm23, zmmword ptr [r10 + 4*rsi + 0x80]
    96  vmovups zmm24, zmmword ptr [r10 + 4*rsi + 0xc0]
        ; %3 = mul f32 %1, %0
    9e  vmulps zmm25, zmm17, zmm16
    a4  vmulps zmm17, zmm18, zmm16
    aa  vmulps zmm18, zmm19, zmm16
    b0  vmulps zmm19, zmm20, zmm16
        ; %4 = add f32 %3, %2
    b6  vaddps zmm20, zmm25, zmm21
    bc  vaddps zmm21, zmm17, zmm22
    c2  vaddps zmm17, zmm18, zmm23
    c8  vaddps zmm18, zmm19, zmm24
        ; store f32 $0 %4
    ce  vmovups zmmword ptr [rdx + 4*rsi], zmm20
    d5  vmovups zmmword ptr [rdx + 4*rsi + 0x40], zmm21
    dd  vmovups zmmword ptr [rdx + 4*rsi + 0x80], zmm17
    e5  vmovups zmmword ptr [rdx + 4*rsi + 0xc0], zmm18
        ; addresses
    ed  add rsi, 0x40
    f1  sub r8, 0x40
    f5  jae .L1
.L2:
    fb  add r8, 0x30
    ff  js .L4
   105  nop word ptr [rax + rax]
   10e  nop word ptr [rax + rax]
   117  nop word ptr [rax + rax]
.L3:
        ; %1 = load f32 $1
   120  vmovups zmm17, zmmword ptr [r9 + 4*rsi]
        ; %2 = load f32 $3
   127  vmovups zmm18, zmmword ptr [r10 + 4*rsi]
        ; %3 = mul f32 %1, %0
   12e  vmulps zmm19, zmm17, zmm16
        ; %4 = add f32 %3, %2
   134  vaddps zmm17, zmm19, zmm18
        ; store f32 $0 %4
   13a  vmovups zmmword ptr [rdx + 4*rsi], zmm17
        ; addresses
   141  add rsi, 0x10
   145  sub r8, 0x10
   149  jae .L3
.L4:
   14b  add r8, 0x10
   14f  je .L5
        ; tail
   155  mov eax, 0xffffffff
   15a  bzhi eax, eax, r8d
   15f  kmovd k1, eax
        ; %1 = load f32 $1
   163  vmovdqu32 zmm17 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %2 = load f32 $3
   16a  vmovdqu32 zmm18 {k1} {z}, zmmword ptr [r10 + 4*rsi]
        ; %3 = mul f32 %1, %0
   171  vmulps zmm19, zmm17, zmm16
        ; %4 = add f32 %3, %2
   177  vaddps zmm17, zmm19, zmm18
        ; store f32 $0 %4
   17d  vmovdqu32 zmmword ptr [rdx + 4*rsi] {k1}, zmm17
.L5:
        ; next iteration
   184  mov rax, qword ptr [rdi + 0x10]
   188  add rdx, qword ptr [rax]
   18b  add r9, qword ptr [rax + 0x8]
   18f  mov rcx, qword ptr [rax + 0x10]
   193  add qword ptr [rsp], rcx
   197  add r10, qword ptr [rax + 0x18]
   19b  dec qword ptr [rsp + 0x10]
   1a0  jne .L0
        ; return
   1a6  mov rsp, qword ptr [rsp + 0x8]
   1ab  ret
