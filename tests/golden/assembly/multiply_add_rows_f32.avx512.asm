        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
        ; enter a loop
    13  mov rax, qword ptr [rdi + 0x8]
    17  mov rax, qword ptr [rax]
    1a  mov rbx, rax
    1d  mov rcx, qword ptr [rdi]
    20  mov rdx, qword ptr [rcx]
    23  mov r9, qword ptr [rcx + 0x8]
    27  mov r11, qword ptr [rcx + 0x10]
    2b  mov r10, qword ptr [rcx + 0x18]
.L0:
    2f  mov rax, qword ptr [rdi + 0x8]
    33  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    37  xor esi, esi
        ; %0 = load f32 $2
    39  vpbroadcastd zmm16, dword ptr [r11]
        ; vectors
    3f  sub r8, 0x40
    43  jb .L2
    49  nop word ptr [rax + rax]
    52  nop word ptr [rax + rax]
    5b  nop dword ptr [rax + rax]
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
   18f  add r11, qword ptr [rax + 0x10]
   193  add r10, qword ptr [rax + 0x18]
   197  dec rbx
   19a  jne .L0
        ; return
   1a0  mov rsp, qword ptr [rsp]
   1a4  pop rbx
   1a5  ret
