        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
        ; %0 = param f32 #0
    13  mov rax, qword ptr [rdi + 0x18]
    17  vpbroadcastd ymm0, dword ptr [rax]
        ; %1 = param f32 #1
    1c  mov rax, qword ptr [rdi + 0x18]
    20  vpbroadcastd ymm1, dword ptr [rax + 0x10]
    26  mov rcx, qword ptr [rdi]
    29  mov r9, qword ptr [rcx]
    2c  mov rbx, qword ptr [rcx + 0x8]
    30  mov rax, qword ptr [rdi + 0x8]
    34  mov r8, qword ptr [rax]
        ; start of the innermost loop
    37  xor esi, esi
        ; vectors
    39  sub r8, 0x20
    3d  jb .L1
    43  nop word ptr [rax + rax]
    4c  nop word ptr [rax + rax]
    55  nop word ptr [rax + rax]
    5e  nop
.L0:
        ; %2 = load f32 $1
    60  vmovups ymm2, ymmword ptr [rbx + 4*rsi]
        ; %3 = gt f32 %2, %0
    65  vcmpgt_oqps ymm3, ymm2, ymm0
        ; %4 = lt f32 %2, %1
    6a  vcmplt_oqps ymm4, ymm2, ymm1
        ; %5 = bitwise_and bool %3, %4
    6f  vpand ymm2, ymm3, ymm4
        ; store bool $0 %5
    73  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x9c]
    7c  vextracti128 xmm3, ymm4, 0x1
    82  vpunpckldq xmm3, xmm4, xmm3
    86  vpabsb xmm5, xmm3
    8b  vmovq qword ptr [r9 + rsi], xmm5
        ; %2 = load f32 $1
    91  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x20]
        ; %3 = gt f32 %2, %0
    97  vcmpgt_oqps ymm3, ymm2, ymm0
        ; %4 = lt f32 %2, %1
    9c  vcmplt_oqps ymm4, ymm2, ymm1
        ; %5 = bitwise_and bool %3, %4
    a1  vpand ymm2, ymm3, ymm4
        ; store bool $0 %5
    a5  vpshufb ymm4, ymm2, ymmword ptr [rip - 0xce]
    ae  vextracti128 xmm3, ymm4, 0x1
    b4  vpunpckldq xmm3, xmm4, xmm3
    b8  vpabsb xmm5, xmm3
    bd  vmovq qword ptr [r9 + rsi + 0x8], xmm5
        ; %2 = load f32 $1
    c4  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x40]
        ; %3 = gt f32 %2, %0
    ca  vcmpgt_oqps ymm3, ymm2, ymm0
        ; %4 = lt f32 %2, %1
    cf  vcmplt_oqps ymm4, ymm2, ymm1
        ; %5 = bitwise_and bool %3, %4
    d4  vpand ymm2, ymm3, ymm4
        ; store bool $0 %5
    d8  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x101]
    e1  vextracti128 xmm3, ymm4, 0x1
    e7  vpunpckldq xmm3, xmm4, xmm3
    eb  vpabsb xmm5, xmm3
    f0  vmovq qword ptr [r9 + rsi + 0x10], xmm5
        ; %2 = load f32 $1
    f7  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x60]
        ; %3 = gt f32 %2, %0
    fd  vcmpgt_oqps ymm3, ymm2, ymm0
        ; %4 = lt f32 %2, %1
   102  vcmplt_oqps ymm4, ymm2, ymm1
        ; %5 = bitwise_and bool %3, %4
   107  vpand ymm2, ymm3, ymm4
        ; store bool $0 %5
   10b  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x134]
   114  vextracti128 xmm3, ymm4, 0x1
   11a  vpunpckldq xmm3, xmm4, xmm3
   11e  vpabsb xmm5, xmm3
   123  vmovq qword ptr [r9 + rsi + 0x18], xmm5
        ; addresses
   12a  add rsi, 0x20
   12e  sub r8, 0x20
   132  jae .L0
.L1:
   138  add r8, 0x18
   13c  js .L3
   142  nop word ptr [rax + rax]
   14b  nop word ptr [rax + rax]
   154  nop word ptr [rax + rax]
   15d  nop dword ptr [rax]
.L2:
        ; %2 = load f32 $1
   160  vmovups ymm2, ymmword ptr [rbx + 4*rsi]
        ; %3 = gt f32 %2, %0
   165  vcmpgt_oqps ymm3, ymm2, ymm0
        ; %4 = lt f32 %2, %1
   16a  vcmplt_oqps ymm4, ymm2, ymm1
        ; %5 = bitwise_and bool %3, %4
   16f  vpand ymm2, ymm3, ymm4
        ; store bool $0 %5
   173  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x19c]
   17c  vextracti128 xmm3, ymm4, 0x1
   182  vpunpckldq xmm3, xmm4, xmm3
   186  vpabsb xmm5, xmm3
   18b  vmovq qword ptr [r9 + rsi], xmm5
        ; addresses
   191  add rsi, 0x8
   195  sub r8, 0x8
   199  jae .L2
.L3:
   19b  add r8, 0x8
   19f  je .L7
        ; tail
   1a5  mov r11d, 0x8
   1ab  cmp r8, r11
   1ae  cmovb r11, r8
        ; %2 = load f32 $1
   1b2  lea rcx, [rip - 0x239]
   1b9  mov rdx, r11
   1bc  neg rdx
   1bf  vmovups ymm3, ymmword ptr [rcx + 4*rdx + 0x20]
   1c5  vpmaskmovd ymm2, ymm3, ymmword ptr [rbx + 4*rsi]
        ; %3 = gt f32 %2, %0
   1cb  vcmpgt_oqps ymm3, ymm2, ymm0
        ; %4 = lt f32 %2, %1
   1d0  vcmplt_oqps ymm4, ymm2, ymm1
        ; %5 = bitwise_and bool %3, %4
   1d5  vpand ymm2, ymm3, ymm4
        ; store bool $0 %5
   1d9  vpshufb ymm4, ymm2, ymmword ptr [rip - 0x202]
   1e2  vextracti128 xmm3, ymm4, 0x1
   1e8  vpunpckldq xmm3, xmm4, xmm3
   1ec  vpabsb xmm5, xmm3
   1f1  vmovq qword ptr [rsp + 0x40], xmm5
   1f7  lea rdx, [r9 + rsi]
   1fb  lea rax, [rsp + 0x40]
   200  xor ecx, ecx
   202  test r11d, 0x8
   209  je .L4
   20f  mov r10, qword ptr [rax + rcx]
   213  mov qword ptr [rdx + rcx], r10
   217  add rcx, 0x8
.L4:
   21b  test r11d, 0x4
   222  je .L5
   228  mov r10d, dword ptr [rax + rcx]
   22c  mov dword ptr [rdx + rcx], r10d
   230  add rcx, 0x4
.L5:
   234  test r11d, 0x2
   23b  je .L6
   241  mov r10w, word ptr [rax + rcx]
   246  mov word ptr [rdx + rcx], r10w
   24b  add rcx, 0x2
.L6:
   24f  test r11d, 0x1
   256  je .L7
   25c  mov r10b, byte ptr [rax + rcx]
   260  mov byte ptr [rdx + rcx], r10b
   264  add rcx, 0x1
.L7:
        ; return
   268  vzeroupper
   26b  mov rsp, qword ptr [rsp]
   26f  pop rbx
   270  ret
