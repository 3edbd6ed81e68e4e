        ; entry
     0  push rbx
     1  push rbp
     2  mov rax, rsp
     5  sub rsp, 0x40
     c  and rsp, -0x40
    10  mov qword ptr [rsp + 0x8], rax
        ; enter a loop
    15  mov rax, qword ptr [rdi + 0x8]
    19  mov rax, qword ptr [rax]
    1c  mov qword ptr [rsp + 0x10], rax
    21  mov rcx, qword ptr [rdi]
    24  mov r9, qword ptr [rcx]
    27  mov rbx, qword ptr [rcx + 0x8]
    2b  mov rax, qword ptr [rcx + 0x10]
    2f  mov qword ptr [rsp], rax
    33  mov rbp, qword ptr [rcx + 0x18]
.L0:
    37  mov rax, qword ptr [rdi + 0x8]
    3b  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    3f  xor esi, esi
        ; %0 = load f32 $2
    41  mov rax, qword ptr [rsp]
    45  vpbroadcastd ymm0, dword ptr [rax]
        ; vectors
    4a  sub r8, 0x20
    4e  jb .L2
    54  nop word ptr [rax + rax]
    5d  nop dword ptr [rax]
.L1:
        ; %1 = load f32 $1
    60  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
    65  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x20]
        ; %2 = load f32 $3
    6b  vmovups ymm3, ymmword ptr [rbp + 4*rsi]
    71  vmovups ymm4, ymmword ptr [rbp + 4*rsi + 0x20]
        ; %3 = mul f32 %1, %0
    77  vmulps ymm5, ymm1, ymm0
    7b  vmulps ymm1, ymm2, ymm0
        ; %4 = add f32 %3, %2
    7f  vaddps ymm2, ymm5, ymm3
    83  vaddps ymm3, ymm1, ymm4
        ; store f32 $0 %4
    87  vmovups ymmword ptr [r9 + 4*rsi], ymm2
    8d  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm3
        ; %1 = load f32 $1
    94  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x40]
    9a  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %2 = load f32 $3
    a0  vmovups ymm3, ymmword ptr [rbp + 4*rsi + 0x40]
    a6  vmovups ymm4, ymmword ptr [rbp + 4*rsi + 0x60]
        ; %3 = mul f32 %1, %0
    ac  vmulps ymm5, ymm1, ymm0
    b0  vmulps ymm1, ymm2, ymm0
        ; %4 = add f32 %3, %2
    b4  vaddps ymm2, ymm5, ymm3
    b8  vaddps ymm3, ymm1, ymm4
        ; store f32 $0 %4
    bc  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm2
    c3  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
    ca  add rsi, 0x20
    ce  sub r8, 0x20
    d2  jae .L1
.L2:
    d4  add r8, 0x18
    d8  js .L4
    de  nop
.L3:
        ; %1 = load f32 $1
    e0  vmovups ymm1, ymmword ptr [rbx + 4*rsi]
        ; %2 = load f32 $3
    e5  vmovups ymm2, ymmword ptr [rbp + 4*rsi]
        ; %3 = mul f32 %1, %0
    eb  vmulps ymm3, ymm1, ymm0
        ; %4 = add f32 %3, %2
    ef  vaddps ymm1, ymm3, ymm2
        ; store f32 $0 %4
    f3  vmovups ymmword ptr [r9 + 4*rsi], ymm1
        ; addresses
    f9  add rsi, 0x8
    fd  sub r8, 0x8
   101  jae .L3
.L4:
   103  add r8, 0x8
   107  je .L5
        ; tail
   10d  mov r11d, 0x8
   113  cmp r8, r11
   116  cmovb r11, r8
        ; %1 = load f32 $1
   11a  lea rcx, [rip - 0x161]
   121  mov rdx, r11
   124  neg rdx
   127  vmovups ymm2, ymmword ptr [rcx + 4*rdx + 0x20]
   12d  vpmaskmovd ymm1, ymm2, ymmword ptr [rbx + 4*rsi]
        ; %2 = load f32 $3
   133  lea rcx, [rip - 0x17a]
   13a  mov rdx, r11
   13d  neg rdx
   140  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   146  vpmaskmovd ymm2, ymm3, ymmword ptr [rbp + 4*rsi]
        ; %3 = mul f32 %1, %0
   14d  vmulps ymm3, ymm1, ymm0
        ; %4 = add f32 %3, %2
   151  vaddps ymm1, ymm3, ymm2
        ; store f32 $0 %4
   155  lea rcx, [rip - 0x19c]
   15c  mov rdx, r11
   15f  neg rdx
   162  vmovups ymm2, ymmword ptr [rcx + 4*rdx + 0x20]
   168  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm2, ymm1
.L5:
        ; next iteration
   16e  mov rax, qword ptr [rdi + 0x10]
   172  add r9, qword ptr [rax]
   175  add rbx, qword ptr [rax + 0x8]
   179  mov rcx, qword ptr [rax + 0x10]
   17d  add qword ptr [rsp], rcx
   181  add rbp, qword ptr [rax + 0x18]
   185  dec qword ptr [rsp + 0x10]
   18a  jne .L0
        ; return
   190  vzeroupper
   193  mov rsp, qword ptr [rsp + 0x8]
   198  pop rbp
   199  pop rbx
   19a  ret
