        ; entry
     0  mov rax, rsp
     3  sub rsp, 0x40
     a  and rsp, -0x40
     e  mov qword ptr [rsp], rax
        ; enter a loop
    12  mov rax, qword ptr [rdi + 0x8]
    16  mov rax, qword ptr [rax]
    19  mov r11, rax
    1c  mov rcx, qword ptr [rdi]
    1f  mov rdx, qword ptr [rcx]
    22  mov r9, qword ptr [rcx + 0x8]
    26  mov r10, qword ptr [rcx + 0x10]
.L0:
    2a  mov rax, qword ptr [rdi + 0x8]
    2e  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    32  xor esi, esi
        ; %0 = load f32 $2
    34  vpbroadcastd zmm16, dword ptr [r10]
        ; vectors
    3a  sub r8, 0x40
    3e  jb .L2
    44  nop word ptr [rax + rax]
    4d  nop word ptr [rax + rax]
    56  nop word ptr [rax + rax]
    5f  nop
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
   155  add r10, qword ptr [rax + 0x10]
   159  dec r11
   15c  jne .L0
        ; return
   162  mov rsp, qword ptr [rsp]
   166  ret
