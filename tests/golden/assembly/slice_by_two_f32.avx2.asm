        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0xc0
     b  and rsp, -0x40
     f  mov qword ptr [rsp + 0x8], rax
        ; enter a loop
    14  mov rax, qword ptr [rdi + 0x8]
    18  mov rax, qword ptr [rax]
    1b  mov qword ptr [rsp + 0x10], rax
    20  mov rcx, qword ptr [rdi]
    23  mov r9, qword ptr [rcx]
    26  mov rax, qword ptr [rcx + 0x8]
    2a  mov qword ptr [rsp], rax
.L0:
    2e  mov rax, qword ptr [rdi + 0x8]
    32  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    36  mov rbx, qword ptr [rsp]
    3a  xor esi, esi
        ; vectors
    3c  sub r8, 0x20
    40  jb .L2
    46  nop word ptr [rax + rax]
    4f  nop word ptr [rax + rax]
    58  nop dword ptr [rax + rax]
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
   150  je .L6
        ; tail
   156  mov r11d, 0x8
   15c  cmp r8, r11
   15f  cmovb r11, r8
        ; %0 = load u32 $1
   163  lea rax, [rbx]
   166  mov edx, 0x8
   16b  xor ecx, ecx
.L5:
   16d  mov r10d, dword ptr [rax]
   170  mov dword ptr [rsp + 4*rcx + 0x40], r10d
   175  add rax, rdx
   178  inc rcx
   17b  cmp rcx, r11
   17e  jb .L5
   180  vmovups ymm0, ymmword ptr [rsp + 0x40]
        ; store u32 $0 %0
   186  lea rcx, [rip - 0x20d]
   18d  mov rdx, r11
   190  neg rdx
   193  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   199  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm1, ymm0
.L6:
        ; next iteration
   19f  mov rax, qword ptr [rdi + 0x10]
   1a3  add r9, qword ptr [rax]
   1a6  mov rcx, qword ptr [rax + 0x8]
   1aa  add qword ptr [rsp], rcx
   1ae  dec qword ptr [rsp + 0x10]
   1b3  jne .L0
        ; return
   1b9  vzeroupper
   1bc  mov rsp, qword ptr [rsp + 0x8]
   1c1  pop rbx
   1c2  ret
