        ; entry
     0  push rbx
     1  push rbp
     2  push r12
     4  mov rax, rsp
     7  sub rsp, 0x40
     e  and rsp, -0x40
    12  mov qword ptr [rsp], rax
        ; enter a loop
    16  mov rax, qword ptr [rdi + 0x8]
    1a  mov rax, qword ptr [rax]
    1d  mov r12, rax
    20  mov rcx, qword ptr [rdi]
    23  mov r9, qword ptr [rcx]
    26  mov rbp, qword ptr [rcx + 0x8]
.L0:
    2a  mov rax, qword ptr [rdi + 0x8]
    2e  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    32  mov rbx, rbp
    35  xor esi, esi
        ; vectors
    37  sub r8, 0x20
    3b  jb .L2
    41  nop word ptr [rax + rax]
    4a  nop word ptr [rax + rax]
    53  nop word ptr [rax + rax]
    5c  nop dword ptr [rax]
.L1:
        ; %0 = load u32 $1
    60  vmovups ymm0, ymmword ptr [rbx]
    64  vpblendd ymm0, ymm0, ymmword ptr [rbx + 0x1c], 0xaa
    6b  vmovups ymm1, ymmword ptr [rip - 0x93]
    73  vpermd ymm0, ymm1, ymm0
        ; store u32 $0 %0
    78  vmovups ymmword ptr [r9 + 4*rsi], ymm0
        ; %0 = load u32 $1
    7e  vmovups ymm0, ymmword ptr [rbx + 0x40]
    83  vpblendd ymm0, ymm0, ymmword ptr [rbx + 0x5c], 0xaa
    8a  vmovups ymm1, ymmword ptr [rip - 0xb2]
    92  vpermd ymm0, ymm1, ymm0
        ; store u32 $0 %0
    97  vmovups ymmword ptr [r9 + 4*rsi + 0x20], ymm0
        ; %0 = load u32 $1
    9e  vmovups ymm0, ymmword ptr [rbx + 0x80]
    a6  vpblendd ymm0, ymm0, ymmword ptr [rbx + 0x9c], 0xaa
    b0  vmovups ymm1, ymmword ptr [rip - 0xd8]
    b8  vpermd ymm0, ymm1, ymm0
        ; store u32 $0 %0
    bd  vmovups ymmword ptr [r9 + 4*rsi + 0x40], ymm0
        ; %0 = load u32 $1
    c4  vmovups ymm0, ymmword ptr [rbx + 0xc0]
    cc  vpblendd ymm0, ymm0, ymmword ptr [rbx + 0xdc], 0xaa
    d6  vmovups ymm1, ymmword ptr [rip - 0xfe]
    de  vpermd ymm0, ymm1, ymm0
        ; store u32 $0 %0
    e3  vmovups ymmword ptr [r9 + 4*rsi + 0x60], ymm0
        ; addresses
    ea  add rsi, 0x20
    ee  add rbx, 0x100
    f5  sub r8, 0x20
    f9  jae .L1
.L2:
    ff  add r8, 0x18
   103  js .L4
   109  nop word ptr [rax + rax]
   112  nop word ptr [rax + rax]
   11b  nop dword ptr [rax + rax]
.L3:
        ; %0 = load u32 $1
   120  vmovups ymm0, ymmword ptr [rbx]
   124  vpblendd ymm0, ymm0, ymmword ptr [rbx + 0x1c], 0xaa
   12b  vmovups ymm1, ymmword ptr [rip - 0x153]
   133  vpermd ymm0, ymm1, ymm0
        ; store u32 $0 %0
   138  vmovups ymmword ptr [r9 + 4*rsi], ymm0
        ; addresses
   13e  add rsi, 0x8
   142  add rbx, 0x40
   146  sub r8, 0x8
   14a  jae .L3
.L4:
   14c  add r8, 0x8
   150  je .L8
        ; tail
   156  mov r11d, 0x8
   15c  cmp r8, r11
   15f  cmovb r11, r8
        ; %0 = load u32 $1
   163  vmovd xmm0, dword ptr [rbx]
   167  cmp r11, 0x1
   16b  jbe .L5
   171  vpinsrd xmm0, xmm0, dword ptr [rbx + 0x8], 0x1
   178  cmp r11, 0x2
   17c  jbe .L5
   182  vpinsrd xmm0, xmm0, dword ptr [rbx + 0x10], 0x2
   189  cmp r11, 0x3
   18d  jbe .L5
   193  vpinsrd xmm0, xmm0, dword ptr [rbx + 0x18], 0x3
.L5:
   19a  cmp r11, 0x4
   19e  jbe .L7
   1a4  vmovd xmm1, dword ptr [rbx + 0x20]
   1a9  cmp r11, 0x5
   1ad  jbe .L6
   1b3  vpinsrd xmm1, xmm1, dword ptr [rbx + 0x28], 0x1
   1ba  cmp r11, 0x6
   1be  jbe .L6
   1c4  vpinsrd xmm1, xmm1, dword ptr [rbx + 0x30], 0x2
   1cb  cmp r11, 0x7
   1cf  jbe .L6
   1d5  vpinsrd xmm1, xmm1, dword ptr [rbx + 0x38], 0x3
.L6:
   1dc  vinserti128 ymm0, ymm0, xmm1, 0x1
.L7:
        ; store u32 $0 %0
   1e2  lea rcx, [rip - 0x269]
   1e9  mov rdx, r11
   1ec  neg rdx
   1ef  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   1f5  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm1, ymm0
.L8:
        ; next iteration
   1fb  mov rax, qword ptr [rdi + 0x10]
   1ff  add r9, qword ptr [rax]
   202  add rbp, qword ptr [rax + 0x8]
   206  dec r12
   209  jne .L0
        ; return
   20f  vzeroupper
   212  mov rsp, qword ptr [rsp]
   216  pop r12
   218  pop rbp
   219  pop rbx
   21a  ret
