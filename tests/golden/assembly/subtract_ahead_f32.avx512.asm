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
.L0:
    31  mov rax, qword ptr [rdi + 0x8]
    35  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    39  xor esi, esi
        ; %0 = load f32 $2
    3b  mov rax, qword ptr [rsp]
    3f  vpbroadcastd zmm16, dword ptr [rax]
        ; vectors
    45  sub r8, 0x40
    49  jb .L2
    4f  nop word ptr [rax + rax]
    58  nop dword ptr [rax + rax]
.L1:
        ; %1 = load f32 $1
    60  prefetcht1 byte ptr [r9 + 4*rsi + 0x40000]
    69  vmovups zmm17, zmmword ptr [r9 + 4*rsi]
    70  prefetcht1 byte ptr [r9 + 4*rsi + 0x40040]
    79  vmovups zmm18, zmmword ptr [r9 + 4*rsi + 0x40]
    81  prefetcht1 byte ptr [r9 + 4*rsi + 0x40080]
    8a  vmovups zmm19, zmmword ptr [r9 + 4*rsi + 0x80]
    92  prefetcht1 byte ptr [r9 + 4*rsi + 0x400c0]
    9b  vmovups zmm20, zmmword ptr [r9 + 4*rsi + 0xc0]
        ; %2 = sub f32 %1, %0
    a3  vsubps zmm21, zmm17, zmm16
    a9  vsubps zmm17, zmm18, zmm16
    af  vsubps zmm18, zmm19, zmm16
    b5  vsubps zmm19, zmm20, zmm16
        ; store f32 $0 %2
    bb  vmovups zmmword ptr [rdx + 4*rsi], zmm21
    c2  vmovups zmmword ptr [rdx + 4*rsi + 0x40], zmm17
    ca  vmovups zmmword ptr [rdx + 4*rsi + 0x80], zmm18
    d2  vmovups zmmword ptr [rdx + 4*rsi + 0xc0], zmm19
        ; addresses
    da  add rsi, 0x40
    de  sub r8, 0x40
    e2  jae .L1
.L2:
    e8  add r8, 0x30
    ec  js .L4
    f2  nop word ptr [rax + rax]
    fb  nop dword ptr [rax + rax]
.L3:
        ; %1 = load f32 $1
   100  vmovups zmm17, zmmword ptr [r9 + 4*rsi]
        ; %2 = sub f32 %1, %0
   107  vsubps zmm18, zmm17, zmm16
        ; store f32 $0 %2
   10d  vmovups zmmword ptr [rdx + 4*rsi], zmm18
        ; addresses
   114  add rsi, 0x10
   118  sub r8, 0x10
   11c  jae .L3
.L4:
   11e  add r8, 0x10
   122  je .L5
        ; tail
   128  mov eax, 0xffffffff
   12d  bzhi eax, eax, r8d
   132  kmovd k1, eax
        ; %1 = load f32 $1
   136  vmovdqu32 zmm17 {k1} {z}, zmmword ptr [r9 + 4*rsi]
        ; %2 = sub f32 %1, %0
   13d  vsubps zmm18, zmm17, zmm16
        ; store f32 $0 %2
   143  vmovdqu32 zmmword ptr [rdx + 4*rsi] {k1}, zmm18
.L5:
        ; next iteration
   14a  mov rax, qword ptr [rdi + 0x10]
   14e  add rdx, qword ptr [rax]
   151  add r9, qword ptr [rax + 0x8]
   155  mov rcx, qword ptr [rax + 0x10]
   159  add qword ptr [rsp], rcx
   15d  dec qword ptr [rsp + 0x10]
   162  jne .L0
        ; return
   168  mov rsp, qword ptr [rsp + 0x8]
   16d  ret
