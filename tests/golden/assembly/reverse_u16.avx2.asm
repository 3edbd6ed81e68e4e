        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp], rax
    13  mov rcx, qword ptr [rdi]
    16  mov r9, qword ptr [rcx]
    19  mov rbx, qword ptr [rcx + 0x8]
    1d  mov rax, qword ptr [rdi + 0x8]
    21  mov r8, qword ptr [rax]
        ; start of the innermost loop
    24  xor esi, esi
        ; vectors
    26  sub r8, 0x40
    2a  jb .L1
    30  nop word ptr [rax + rax]
    39  nop dword ptr [rax]
.L0:
        ; %0 = load u16 $1
    40  vmovups ymm0, ymmword ptr [rbx - 0x1e]
    45  vpshufb ymm0, ymm0, ymmword ptr [rip - 0x6e]
    4e  vpermq ymm0, ymm0, 0x4e
        ; store u16 $0 %0
    54  vmovups ymmword ptr [r9 + 2*rsi], ymm0
        ; %0 = load u16 $1
    5a  vmovups ymm0, ymmword ptr [rbx - 0x3e]
    5f  vpshufb ymm0, ymm0, ymmword ptr [rip - 0x88]
    68  vpermq ymm0, ymm0, 0x4e
        ; store u16 $0 %0
    6e  vmovups ymmword ptr [r9 + 2*rsi + 0x20], ymm0
        ; %0 = load u16 $1
    75  vmovups ymm0, ymmword ptr [rbx - 0x5e]
    7a  vpshufb ymm0, ymm0, ymmword ptr [rip - 0xa3]
    83  vpermq ymm0, ymm0, 0x4e
        ; store u16 $0 %0
    89  vmovups ymmword ptr [r9 + 2*rsi + 0x40], ymm0
        ; %0 = load u16 $1
    90  vmovups ymm0, ymmword ptr [rbx - 0x7e]
    95  vpshufb ymm0, ymm0, ymmword ptr [rip - 0xbe]
    9e  vpermq ymm0, ymm0, 0x4e
        ; store u16 $0 %0
    a4  vmovups ymmword ptr [r9 + 2*rsi + 0x60], ymm0
        ; addresses
    ab  add rsi, 0x40
    af  add rbx, -0x80
    b3  sub r8, 0x40
    b7  jae .L0
.L1:
    b9  add r8, 0x30
    bd  js .L3
    c3  nop word ptr [rax + rax]
    cc  nop word ptr [rax + rax]
    d5  nop word ptr [rax + rax]
    de  nop
.L2:
        ; %0 = load u16 $1
    e0  vmovups ymm0, ymmword ptr [rbx - 0x1e]
    e5  vpshufb ymm0, ymm0, ymmword ptr [rip - 0x10e]
    ee  vpermq ymm0, ymm0, 0x4e
        ; store u16 $0 %0
    f4  vmovups ymmword ptr [r9 + 2*rsi], ymm0
        ; addresses
    fa  add rsi, 0x10
    fe  add rbx, -0x20
   102  sub r8, 0x10
   106  jae .L2
.L3:
   108  add r8, 0x10
   10c  je .L11
        ; tail
   112  mov r11d, 0x10
   118  cmp r8, r11
   11b  cmovb r11, r8
        ; %0 = load u16 $1
   11f  vpxor xmm0, xmm0, xmm0
   123  vpinsrw xmm0, xmm0, word ptr [rbx], 0x0
   128  cmp r11, 0x1
   12c  jbe .L4
   132  vpinsrw xmm0, xmm0, word ptr [rbx - 0x2], 0x1
   138  cmp r11, 0x2
   13c  jbe .L4
   142  vpinsrw xmm0, xmm0, word ptr [rbx - 0x4], 0x2
   148  cmp r11, 0x3
   14c  jbe .L4
   152  vpinsrw xmm0, xmm0, word ptr [rbx - 0x6], 0x3
   158  cmp r11, 0x4
   15c  jbe .L4
   162  vpinsrw xmm0, xmm0, word ptr [rbx - 0x8], 0x4
   168  cmp r11, 0x5
   16c  jbe .L4
   172  vpinsrw xmm0, xmm0, word ptr [rbx - 0xa], 0x5
   178  cmp r11, 0x6
   17c  jbe .L4
   182  vpinsrw xmm0, xmm0, word ptr [rbx - 0xc], 0x6
   188  cmp r11, 0x7
   18c  jbe .L4
   192  vpinsrw xmm0, xmm0, word ptr [rbx - 0xe], 0x7
.L4:
   198  cmp r11, 0x8
   19c  jbe .L6
   1a2  vpxor xmm1, xmm1, xmm1
   1a6  vpinsrw xmm1, xmm1, word ptr [rbx - 0x10], 0x0
   1ac  cmp r11, 0x9
   1b0  jbe .L5
   1b6  vpinsrw xmm1, xmm1, word ptr [rbx - 0x12], 0x1
   1bc  cmp r11, 0xa
   1c0  jbe .L5
   1c6  vpinsrw xmm1, xmm1, word ptr [rbx - 0x14], 0x2
   1cc  cmp r11, 0xb
   1d0  jbe .L5
   1d6  vpinsrw xmm1, xmm1, word ptr [rbx - 0x16], 0x3
   1dc  cmp r11, 0xc
   1e0  jbe .L5
   1e6  vpinsrw xmm1, xmm1, word ptr [rbx - 0x18], 0x4
   1ec  cmp r11, 0xd
   1f0  jbe .L5
   1f6  vpinsrw xmm1, xmm1, word ptr [rbx - 0x1a], 0x5
   1fc  cmp r11, 0xe
   200  jbe .L5
   206  vpinsrw xmm1, xmm1, word ptr [rbx - 0x1c], 0x6
   20c  cmp r11, 0xf
   210  jbe .L5
   216  vpinsrw xmm1, xmm1, word ptr [rbx - 0x1e], 0x7
.L5:
   21c  vinserti128 ymm0, ymm0, xmm1, 0x1
.L6:
        ; store u16 $0 %0
   222  vmovups ymmword ptr [rsp + 0x40], ymm0
   228  lea rdx, [r9 + 2*rsi]
   22c  lea rax, [rsp + 0x40]
   231  xor ecx, ecx
   233  test r11d, 0x10
   23a  je .L7
   240  vmovups ymm1, ymmword ptr [rax + rcx]
   245  vmovups ymmword ptr [rdx + rcx], ymm1
   24a  add rcx, 0x20
.L7:
   24e  test r11d, 0x8
   255  je .L8
   25b  vmovups xmm1, xmmword ptr [rax + rcx]
   260  vmovups xmmword ptr [rdx + rcx], xmm1
   265  add rcx, 0x10
.L8:
   269  test r11d, 0x4
   270  je .L9
   276  mov r10, qword ptr [rax + rcx]
   27a  mov qword ptr [rdx + rcx], r10
   27e  add rcx, 0x8
.L9:
   282  test r11d, 0x2
   289  je .L10
   28f  mov r10d, dword ptr [rax + rcx]
   293  mov dword ptr [rdx + rcx], r10d
   297  add rcx, 0x4
.L10:
   29b  test r11d, 0x1
   2a2  je .L11
   2a8  mov r10w, word ptr [rax + rcx]
   2ad  mov word ptr [rdx + rcx], r10w
   2b2  add rcx, 0x2
.L11:
        ; return
   2b6  vzeroupper
   2b9  mov rsp, qword ptr [rsp]
   2bd  pop rbx
   2be  ret
