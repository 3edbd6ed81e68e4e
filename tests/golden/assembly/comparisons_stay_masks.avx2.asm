        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x100
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
        ; %0 = param f32 #0
    13  mov rax, qword ptr [rdi + 0x18]
    17  vpbroadcastd ymm0, dword ptr [rax]
    1c  vmovups ymmword ptr [rsp + 0x20], ymm0
        ; %1 = param f32 #1
    22  mov rax, qword ptr [rdi + 0x18]
    26  vpbroadcastd ymm0, dword ptr [rax + 0x10]
    2c  vmovups ymmword ptr [rsp + 0x40], ymm0
    32  mov rcx, qword ptr [rdi]
    35  mov r9, qword ptr [rcx]
    38  mov rbx, qword ptr [rcx + 0x8]
    3c  mov rax, qword ptr [rdi + 0x8]
    40  mov r8, qword ptr [rax]
        ; start of the innermost loop
    43  xor esi, esi
        ; vectors
    45  sub r8, 0x20
    49  jb .L1
    4f  nop word ptr [rax + rax]
    58  nop dword ptr [rax + rax]
.L0:
        ; %2 = load f32 $1
    60  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
    65  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
        ; %3 = gt f32 %2, %0
    6b  vmovups ymm2, ymmword ptr [rsp + 0x20]
    71  vcmpgt_oqps ymm3, ymm0, ymm2
    76  vcmpgt_oqps ymm4, ymm1, ymm2
        ; %4 = lt f32 %2, %1
    7b  vmovups ymm2, ymmword ptr [rsp + 0x40]
    81  vcmplt_oqps ymm5, ymm0, ymm2
    86  vcmplt_oqps ymm0, ymm1, ymm2
        ; %5 = bitwise_and bool %3, %4
    8b  vpand ymm1, ymm3, ymm5
    8f  vpand ymm2, ymm4, ymm0
        ; store bool $0 %5
    93  vpshufb ymm3, ymm1, ymmword ptr [rip - 0xbc]
    9c  vextracti128 xmm0, ymm3, 0x1
    a2  vpunpckldq xmm0, xmm3, xmm0
    a6  vpabsb xmm4, xmm0
    ab  vmovq qword ptr [r9 + rsi], xmm4
    b1  vpshufb ymm1, ymm2, ymmword ptr [rip - 0xda]
    ba  vextracti128 xmm0, ymm1, 0x1
    c0  vpunpckldq xmm0, xmm1, xmm0
    c4  vpabsb xmm3, xmm0
    c9  vmovq qword ptr [r9 + rsi + 0x8], xmm3
        ; %2 = load f32 $1
    d0  vmovups ymm0, ymmword ptr [rbx + 4*rsi + 0x40]
    d6  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %3 = gt f32 %2, %0
    dc  vmovups ymm2, ymmword ptr [rsp + 0x20]
    e2  vcmpgt_oqps ymm3, ymm0, ymm2
    e7  vcmpgt_oqps ymm4, ymm1, ymm2
        ; %4 = lt f32 %2, %1
    ec  vmovups ymm2, ymmword ptr [rsp + 0x40]
    f2  vcmplt_oqps ymm5, ymm0, ymm2
    f7  vcmplt_oqps ymm0, ymm1, ymm2
        ; %5 = bitwise_and bool %3, %4
    fc  vpand ymm1, ymm3, ymm5
   100  vpand ymm2, ymm4, ymm0
        ; store bool $0 %5
   104  vpshufb ymm3, ymm1, ymmword ptr [rip - 0x12d]
   10d  vextracti128 xmm0, ymm3, 0x1
   113  vpunpckldq xmm0, xmm3, xmm0
   117  vpabsb xmm4, xmm0
   11c  vmovq qword ptr [r9 + rsi + 0x10], xmm4
   123  vpshufb ymm1, ymm2, ymmword ptr [rip - 0x14c]
   12c  vextracti128 xmm0, ymm1, 0x1
   132  vpunpckldq xmm0, xmm1, xmm0
   136  vpabsb xmm3, xmm0
   13b  vmovq qword ptr [r9 + rsi + 0x18], xmm3
        ; addresses
   142  add rsi, 0x20
   146  sub r8, 0x20
   14a  jae .L0
.L1:
   150  add r8, 0x18
   154  js .L3
   15a  nop word ptr [rax + rax]
.L2:
        ; %2 = load f32 $1
   160  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
        ; %3 = gt f32 %2, %0
   165  vmovups ymm1, ymmword ptr [rsp + 0x20]
   16b  vcmpgt_oqps ymm2, ymm0, ymm1
        ; %4 = lt f32 %2, %1
   170  vmovups ymm1, ymmword ptr [rsp + 0x40]
   176  vcmplt_oqps ymm3, ymm0, ymm1
        ; %5 = bitwise_and bool %3, %4
   17b  vpand ymm0, ymm2, ymm3
        ; store bool $0 %5
   17f  vpshufb ymm2, ymm0, ymmword ptr [rip - 0x1a8]
   188  vextracti128 xmm1, ymm2, 0x1
   18e  vpunpckldq xmm1, xmm2, xmm1
   192  vpabsb xmm3, xmm1
   197  vmovq qword ptr [r9 + rsi], xmm3
        ; addresses
   19d  add rsi, 0x8
   1a1  sub r8, 0x8
   1a5  jae .L2
.L3:
   1a7  add r8, 0x8
   1ab  je .L7
        ; tail
   1b1  mov r11d, 0x8
   1b7  cmp r8, r11
   1ba  cmovb r11, r8
        ; %2 = load f32 $1
   1be  lea rcx, [rip - 0x245]
   1c5  mov rdx, r11
   1c8  neg rdx
   1cb  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   1d1  vpmaskmovd ymm0, ymm1, ymmword ptr [rbx + 4*rsi]
        ; %3 = gt f32 %2, %0
   1d7  vmovups ymm1, ymmword ptr [rsp + 0x20]
   1dd  vcmpgt_oqps ymm2, ymm0, ymm1
        ; %4 = lt f32 %2, %1
   1e2  vmovups ymm1, ymmword ptr [rsp + 0x40]
   1e8  vcmplt_oqps ymm3, ymm0, ymm1
        ; %5 = bitwise_and bool %3, %4
   1ed  vpand ymm0, ymm2, ymm3
        ; store bool $0 %5
   1f1  vpshufb ymm2, ymm0, ymmword ptr [rip - 0x21a]
   1fa  vextracti128 xmm1, ymm2, 0x1
   200  vpunpckldq xmm1, xmm2, xmm1
   204  vpabsb xmm3, xmm1
   209  vmovq qword ptr [rsp + 0x80], xmm3
   212  lea rdx, [r9 + rsi]
   216  lea rax, [rsp + 0x80]
   21e  xor ecx, ecx
   220  test r11d, 0x8
   227  je .L4
   22d  mov r10, qword ptr [rax + rcx]
   231  mov qword ptr [rdx + rcx], r10
   235  add rcx, 0x8
.L4:
   239  test r11d, 0x4
   240  je .L5
   246  mov r10d, dword ptr [rax + rcx]
   24a  mov dword ptr [rdx + rcx], r10d
   24e  add rcx, 0x4
.L5:
   252  test r11d, 0x2
   259  je .L6
   25f  mov r10w, word ptr [rax + rcx]
   264  mov word ptr [rdx + rcx], r10w
   269  add rcx, 0x2
.L6:
   26d  test r11d, 0x1
   274  je .L7
   27a  mov r10b, byte ptr [rax + rcx]
   27e  mov byte ptr [rdx + rcx], r10b
   282  add rcx, 0x1
.L7:
        ; return
   286  vzeroupper
   289  mov rsp, qword ptr [rsp]
   28d  pop rbx
   28e  ret
