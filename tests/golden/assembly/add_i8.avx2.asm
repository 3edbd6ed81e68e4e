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
    e3  je .L21
        ; tail
    e9  mov r11d, 0x20
    ef  cmp r8, r11
    f2  cmovb r11, r8
        ; %0 = load i8 $1
    f6  lea rax, [rbx + rsi]
    fa  lea rdx, [rsp + 0x40]
    ff  xor ecx, ecx
   101  test r11d, 0x20
   108  je .L4
   10e  vmovups ymm1, ymmword ptr [rax + rcx]
   113  vmovups ymmword ptr [rdx + rcx], ymm1
   118  add rcx, 0x20
.L4:
   11c  test r11d, 0x10
   123  je .L5
   129  vmovups xmm1, xmmword ptr [rax + rcx]
   12e  vmovups xmmword ptr [rdx + rcx], xmm1
   133  add rcx, 0x10
.L5:
   137  test r11d, 0x8
   13e  je .L6
   144  mov r10, qword ptr [rax + rcx]
   148  mov qword ptr [rdx + rcx], r10
   14c  add rcx, 0x8
.L6:
   150  test r11d, 0x4
   157  je .L7
   15d  mov r10d, dword ptr [rax + rcx]
   161  mov dword ptr [rdx + rcx], r10d
   165  add rcx, 0x4
.L7:
   169  test r11d, 0x2
   170  je .L8
   176  mov r10w, word ptr [rax + rcx]
   17b  mov word ptr [rdx + rcx], r10w
   180  add rcx, 0x2
.L8:
   184  test r11d, 0x1
   18b  je .L9
   191  mov r10b, byte ptr [rax + rcx]
   195  mov byte ptr [rdx + rcx], r10b
   199  add rcx, 0x1
.L9:
   19d  vmovups ymm0, ymmword ptr [rsp + 0x40]
        ; %1 = load i8 $2
   1a3  lea rax, [rbp + rsi]
   1a8  lea rdx, [rsp + 0x40]
   1ad  xor ecx, ecx
   1af  test r11d, 0x20
   1b6  je .L10
   1bc  vmovups ymm2, ymmword ptr [rax + rcx]
   1c1  vmovups ymmword ptr [rdx + rcx], ymm2
   1c6  add rcx, 0x20
.L10:
   1ca  test r11d, 0x10
   1d1  je .L11
   1d7  vmovups xmm2, xmmword ptr [rax + rcx]
   1dc  vmovups xmmword ptr [rdx + rcx], xmm2
   1e1  add rcx, 0x10
.L11:
   1e5  test r11d, 0x8
   1ec  je .L12
   1f2  mov r10, qword ptr [rax + rcx]
   1f6  mov qword ptr [rdx + rcx], r10
   1fa  add rcx, 0x8
.L12:
   1fe  test r11d, 0x4
   205  je .L13
   20b  mov r10d, dword ptr [rax + rcx]
   20f  mov dword ptr [rdx + rcx], r10d
   213  add rcx, 0x4
.L13:
   217  test r11d, 0x2
   21e  je .L14
   224  mov r10w, word ptr [rax + rcx]
   229  mov word ptr [rdx + rcx], r10w
   22e  add rcx, 0x2
.L14:
   232  test r11d, 0x1
   239  je .L15
   23f  mov r10b, byte ptr [rax + rcx]
   243  mov byte ptr [rdx + rcx], r10b
   247  add rcx, 0x1
.L15:
   24b  vmovups ymm1, ymmword ptr [rsp + 0x40]
        ; %2 = add i8 %0, %1
   251  vpaddb ymm2, ymm0, ymm1
        ; store i8 $0 %2
   255  vmovups ymmword ptr [rsp + 0x40], ymm2
   25b  lea rdx, [r9 + rsi]
   25f  lea rax, [rsp + 0x40]
   264  xor ecx, ecx
   266  test r11d, 0x20
   26d  je .L16
   273  vmovups ymm0, ymmword ptr [rax + rcx]
   278  vmovups ymmword ptr [rdx + rcx], ymm0
   27d  add rcx, 0x20
.L16:
   281  test r11d, 0x10
   288  je .L17
   28e  vmovups xmm0, xmmword ptr [rax + rcx]
   293  vmovups xmmword ptr [rdx + rcx], xmm0
   298  add rcx, 0x10
.L17:
   29c  test r11d, 0x8
   2a3  je .L18
   2a9  mov r10, qword ptr [rax + rcx]
   2ad  mov qword ptr [rdx + rcx], r10
   2b1  add rcx, 0x8
.L18:
   2b5  test r11d, 0x4
   2bc  je .L19
   2c2  mov r10d, dword ptr [rax + rcx]
   2c6  mov dword ptr [rdx + rcx], r10d
   2ca  add rcx, 0x4
.L19:
   2ce  test r11d, 0x2
   2d5  je .L20
   2db  mov r10w, word ptr [rax + rcx]
   2e0  mov word ptr [rdx + rcx], r10w
   2e5  add rcx, 0x2
.L20:
   2e9  test r11d, 0x1
   2f0  je .L21
   2f6  mov r10b, byte ptr [rax + rcx]
   2fa  mov byte ptr [rdx + rcx], r10b
   2fe  add rcx, 0x1
.L21:
        ; return
   302  vzeroupper
   305  mov rsp, qword ptr [rsp]
   309  pop rbp
   30a  pop rbx
   30b  ret
