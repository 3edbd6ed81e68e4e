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
    3c  sub r8, 0x8
    40  jb .L2
    46  nop word ptr [rax + rax]
    4f  nop word ptr [rax + rax]
    58  nop dword ptr [rax + rax]
.L1:
        ; %0 = load u32 $1
    60  vmovd xmm0, dword ptr [rbx]
    64  vpinsrd xmm0, xmm0, dword ptr [rbx + 0x8], 0x1
    6b  vpinsrd xmm0, xmm0, dword ptr [rbx + 0x10], 0x2
    72  vpinsrd xmm0, xmm0, dword ptr [rbx + 0x18], 0x3
    79  vmovd xmm1, dword ptr [rbx + 0x20]
    7e  vpinsrd xmm1, xmm1, dword ptr [rbx + 0x28], 0x1
    85  vpinsrd xmm1, xmm1, dword ptr [rbx + 0x30], 0x2
    8c  vpinsrd xmm1, xmm1, dword ptr [rbx + 0x38], 0x3
    93  vinserti128 ymm0, ymm0, xmm1, 0x1
        ; store u32 $0 %0
    99  vmovups ymmword ptr [r9 + 4*rsi], ymm0
        ; addresses
    9f  add rsi, 0x8
    a3  add rbx, 0x40
    a7  sub r8, 0x8
    ab  jae .L1
.L2:
    ad  add r8, 0x8
    b1  je .L4
        ; tail
    b7  mov r11d, 0x8
    bd  cmp r8, r11
    c0  cmovb r11, r8
        ; %0 = load u32 $1
    c4  lea rax, [rbx]
    c7  mov edx, 0x8
    cc  xor ecx, ecx
.L3:
    ce  mov r10d, dword ptr [rax]
    d1  mov dword ptr [rsp + 4*rcx + 0x40], r10d
    d6  add rax, rdx
    d9  inc rcx
    dc  cmp rcx, r11
    df  jb .L3
    e1  vmovups ymm0, ymmword ptr [rsp + 0x40]
        ; store u32 $0 %0
    e7  lea rcx, [rip - 0x12e]
    ee  mov rdx, r11
    f1  neg rdx
    f4  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
    fa  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm1, ymm0
.L4:
        ; next iteration
   100  mov rax, qword ptr [rdi + 0x10]
   104  add r9, qword ptr [rax]
   107  mov rcx, qword ptr [rax + 0x8]
   10b  add qword ptr [rsp], rcx
   10f  dec qword ptr [rsp + 0x10]
   114  jne .L0
        ; return
   11a  vzeroupper
   11d  mov rsp, qword ptr [rsp + 0x8]
   122  pop rbx
   123  ret
