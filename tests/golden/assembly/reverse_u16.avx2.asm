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
   10c  je .L9
        ; tail
   112  mov r11d, 0x10
   118  cmp r8, r11
   11b  cmovb r11, r8
        ; %0 = load u16 $1
   11f  lea rax, [rbx]
   122  mov rdx, -0x2
   129  xor ecx, ecx
.L4:
   12b  mov r10w, word ptr [rax]
   12f  mov word ptr [rsp + 2*rcx + 0x40], r10w
   135  add rax, rdx
   138  inc rcx
   13b  cmp rcx, r11
   13e  jb .L4
   140  vmovups ymm0, ymmword ptr [rsp + 0x40]
        ; store u16 $0 %0
   146  vmovups ymmword ptr [rsp + 0x40], ymm0
   14c  lea rdx, [r9 + 2*rsi]
   150  lea rax, [rsp + 0x40]
   155  xor ecx, ecx
   157  test r11d, 0x10
   15e  je .L5
   164  vmovups ymm1, ymmword ptr [rax + rcx]
   169  vmovups ymmword ptr [rdx + rcx], ymm1
   16e  add rcx, 0x20
.L5:
   172  test r11d, 0x8
   179  je .L6
   17f  vmovups xmm1, xmmword ptr [rax + rcx]
   184  vmovups xmmword ptr [rdx + rcx], xmm1
   189  add rcx, 0x10
.L6:
   18d  test r11d, 0x4
   194  je .L7
   19a  mov r10, qword ptr [rax + rcx]
   19e  mov qword ptr [rdx + rcx], r10
   1a2  add rcx, 0x8
.L7:
   1a6  test r11d, 0x2
   1ad  je .L8
   1b3  mov r10d, dword ptr [rax + rcx]
   1b7  mov dword ptr [rdx + rcx], r10d
   1bb  add rcx, 0x4
.L8:
   1bf  test r11d, 0x1
   1c6  je .L9
   1cc  mov r10w, word ptr [rax + rcx]
   1d1  mov word ptr [rdx + rcx], r10w
   1d6  add rcx, 0x2
.L9:
        ; return
   1da  vzeroupper
   1dd  mov rsp, qword ptr [rsp]
   1e1  pop rbx
   1e2  ret
