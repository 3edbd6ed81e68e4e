        ; entry
     0  push rbx
     1  push rbp
     2  mov rax, rsp
     5  sub rsp, 0xc0
     c  and rsp, -0x40
    10  mov qword ptr [rsp], rax
    14  mov rcx, qword ptr [rdi]
    17  mov r9, qword ptr [rcx]
    1a  mov rbx, qword ptr [rcx + 0x8]
    1e  mov rbp, qword ptr [rcx + 0x10]
    22  mov rax, qword ptr [rdi + 0x8]
    26  mov r8, qword ptr [rax]
        ; start of the innermost loop
    29  xor esi, esi
        ; vectors
    2b  sub r8, 0x80
    32  jb .L1
    38  nop dword ptr [rax + rax]
.L0:
        ; %0 = load i8 $1
    40  vmovups ymm0, ymmword ptr [rbx + rsi]
    45  vmovups ymm1, ymmword ptr [rbx + rsi + 0x20]
        ; %1 = load i8 $2
    4b  vmovups ymm2, ymmword ptr [rbp + rsi]
    51  vmovups ymm3, ymmword ptr [rbp + rsi + 0x20]
        ; %2 = add i8 %0, %1
    57  vpaddb ymm4, ymm0, ymm2
    5b  vpaddb ymm0, ymm1, ymm3
        ; store i8 $0 %2
    5f  vmovups ymmword ptr [r9 + rsi], ymm4
    65  vmovups ymmword ptr [r9 + rsi + 0x20], ymm0
        ; %0 = load i8 $1
    6c  vmovups ymm0, ymmword ptr [rbx + rsi + 0x40]
    72  vmovups ymm1, ymmword ptr [rbx + rsi + 0x60]
        ; %1 = load i8 $2
    78  vmovups ymm2, ymmword ptr [rbp + rsi + 0x40]
    7e  vmovups ymm3, ymmword ptr [rbp + rsi + 0x60]
        ; %2 = add i8 %0, %1
    84  vpaddb ymm4, ymm0, ymm2
    88  vpaddb ymm0, ymm1, ymm3
        ; store i8 $0 %2
    8c  vmovups ymmword ptr [r9 + rsi + 0x40], ymm4
    93  vmovups ymmword ptr [r9 + rsi + 0x60], ymm0
        ; addresses
    9a  add rsi, 0x80
    a1  sub r8, 0x80
    a8  jae .L0
.L1:
    aa  add r8, 0x60
    ae  js .L3
    b4  nop word ptr [rax + rax]
    bd  nop dword ptr [rax]
.L2:
        ; %0 = load i8 $1
    c0  vmovups ymm0, ymmword ptr [rbx + rsi]
        ; %1 = load i8 $2
    c5  vmovups ymm1, ymmword ptr [rbp + rsi]
        ; %2 = add i8 %0, %1
    cb  vpaddb ymm2, ymm0, ymm1
        ; store i8 $0 %2
    cf  vmovups ymmword ptr [r9 + rsi], ymm2
        ; addresses
    d5  add rsi, 0x20
    d9  sub r8, 0x20
    dd  jae .L2
.L3:
    df  add r8, 0x20
    e3  je .L11
        ; tail
    e9  mov r11d, 0x20
    ef  cmp r8, r11
    f2  cmovb r11, r8
        ; %0 = load i8 $1
    f6  lea r10, [rbx + rsi]
    fa  lea rax, [rip - 0x141]
   101  mov rdx, r11
   104  mov rcx, rdx
   107  and rcx, -0x4
   10b  sub rax, rcx
   10e  vmovups ymm1, ymmword ptr [rax + 0x20]
   113  vpmaskmovd ymm0, ymm1, ymmword ptr [r10]
   118  and edx, 0x3
   11b  je .L4
   121  vpandn ymm1, ymm1, ymmword ptr [rax + 0x1c]
   126  add r10, rcx
   129  movzx eax, byte ptr [r10 + rdx - 0x1]
   12f  lea ecx, [8*rdx - 0x8]
   136  shlx eax, eax, ecx
   13b  movzx ecx, byte ptr [r10]
   13f  or ecx, eax
   141  shr edx
   143  movzx eax, byte ptr [r10 + rdx]
   148  shl edx, 0x3
   14b  shlx eax, eax, edx
   150  or ecx, eax
   152  vmovd xmm2, ecx
   156  vpbroadcastd ymm2, xmm2
   15b  vpand ymm2, ymm2, ymm1
   15f  vpor ymm0, ymm0, ymm2
.L4:
        ; %1 = load i8 $2
   163  lea r10, [rbp + rsi]
   168  lea rax, [rip - 0x1af]
   16f  mov rdx, r11
   172  mov rcx, rdx
   175  and rcx, -0x4
   179  sub rax, rcx
   17c  vmovups ymm2, ymmword ptr [rax + 0x20]
   181  vpmaskmovd ymm1, ymm2, ymmword ptr [r10]
   186  and edx, 0x3
   189  je .L5
   18f  vpandn ymm2, ymm2, ymmword ptr [rax + 0x1c]
   194  add r10, rcx
   197  movzx eax, byte ptr [r10 + rdx - 0x1]
   19d  lea ecx, [8*rdx - 0x8]
   1a4  shlx eax, eax, ecx
   1a9  movzx ecx, byte ptr [r10]
   1ad  or ecx, eax
   1af  shr edx
   1b1  movzx eax, byte ptr [r10 + rdx]
   1b6  shl edx, 0x3
   1b9  shlx eax, eax, edx
   1be  or ecx, eax
   1c0  vmovd xmm3, ecx
   1c4  vpbroadcastd ymm3, xmm3
   1c9  vpand ymm3, ymm3, ymm2
   1cd  vpor ymm1, ymm1, ymm3
.L5:
        ; %2 = add i8 %0, %1
   1d1  vpaddb ymm2, ymm0, ymm1
        ; store i8 $0 %2
   1d5  vmovups ymmword ptr [rsp + 0x40], ymm2
   1db  lea rdx, [r9 + rsi]
   1df  lea rax, [rsp + 0x40]
   1e4  xor ecx, ecx
   1e6  test r11d, 0x20
   1ed  je .L6
   1f3  vmovups ymm0, ymmword ptr [rax + rcx]
   1f8  vmovups ymmword ptr [rdx + rcx], ymm0
   1fd  add rcx, 0x20
.L6:
   201  test r11d, 0x10
   208  je .L7
   20e  vmovups xmm0, xmmword ptr [rax + rcx]
   213  vmovups xmmword ptr [rdx + rcx], xmm0
   218  add rcx, 0x10
.L7:
   21c  test r11d, 0x8
   223  je .L8
   229  mov r10, qword ptr [rax + rcx]
   22d  mov qword ptr [rdx + rcx], r10
   231  add rcx, 0x8
.L8:
   235  test r11d, 0x4
   23c  je .L9
   242  mov r10d, dword ptr [rax + rcx]
   246  mov dword ptr [rdx + rcx], r10d
   24a  add rcx, 0x4
.L9:
   24e  test r11d, 0x2
   255  je .L10
   25b  mov r10w, word ptr [rax + rcx]
   260  mov word ptr [rdx + rcx], r10w
   265  add rcx, 0x2
.L10:
   269  test r11d, 0x1
   270  je .L11
   276  mov r10b, byte ptr [rax + rcx]
   27a  mov byte ptr [rdx + rcx], r10b
   27e  add rcx, 0x1
.L11:
        ; return
   282  vzeroupper
   285  mov rsp, qword ptr [rsp]
   289  pop rbp
   28a  pop rbx
   28b  ret
