        ; entry
     0  push rbx
     1  mov rax, rsp
     4  sub rsp, 0x40
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
    26  sub r8, 0x80
    2d  jb .L1
    33  nop word ptr [rax + rax]
    3c  nop dword ptr [rax]
.L0:
        ; %0 = load u16 $1
    40  vmovups zmm16, zmmword ptr [rbx - 0x3e]
    4a  vpshufb zmm16, zmm16, zmmword ptr [rip - 0x94]
    54  vshufi64x2 zmm16, zmm16, zmm16, 0x1b
        ; store u16 $0 %0
    5b  vmovups zmmword ptr [r9 + 2*rsi], zmm16
        ; %0 = load u16 $1
    62  vmovups zmm16, zmmword ptr [rbx - 0x7e]
    6c  vpshufb zmm16, zmm16, zmmword ptr [rip - 0xb6]
    76  vshufi64x2 zmm16, zmm16, zmm16, 0x1b
        ; store u16 $0 %0
    7d  vmovups zmmword ptr [r9 + 2*rsi + 0x40], zmm16
        ; %0 = load u16 $1
    85  vmovups zmm16, zmmword ptr [rbx - 0xbe]
    8f  vpshufb zmm16, zmm16, zmmword ptr [rip - 0xd9]
    99  vshufi64x2 zmm16, zmm16, zmm16, 0x1b
        ; store u16 $0 %0
    a0  vmovups zmmword ptr [r9 + 2*rsi + 0x80], zmm16
        ; %0 = load u16 $1
    a8  vmovups zmm16, zmmword ptr [rbx - 0xfe]
    b2  vpshufb zmm16, zmm16, zmmword ptr [rip - 0xfc]
    bc  vshufi64x2 zmm16, zmm16, zmm16, 0x1b
        ; store u16 $0 %0
    c3  vmovups zmmword ptr [r9 + 2*rsi + 0xc0], zmm16
        ; addresses
    cb  add rsi, 0x80
    d2  add rbx, -0x100
    d9  sub r8, 0x80
    e0  jae .L0
.L1:
    e6  add r8, 0x60
    ea  js .L3
    f0  nop word ptr [rax + rax]
    f9  nop dword ptr [rax]
.L2:
        ; %0 = load u16 $1
   100  vmovups zmm16, zmmword ptr [rbx - 0x3e]
   10a  vpshufb zmm16, zmm16, zmmword ptr [rip - 0x154]
   114  vshufi64x2 zmm16, zmm16, zmm16, 0x1b
        ; store u16 $0 %0
   11b  vmovups zmmword ptr [r9 + 2*rsi], zmm16
        ; addresses
   122  add rsi, 0x20
   126  add rbx, -0x40
   12a  sub r8, 0x20
   12e  jae .L2
.L3:
   130  add r8, 0x20
   134  je .L4
        ; tail
   13a  mov r11d, 0x20
   140  cmp r8, r11
   143  cmovb r11, r8
   147  mov eax, 0xffffffff
   14c  bzhi eax, eax, r11d
   151  kmovd k1, eax
        ; %0 = load u16 $1
   155  mov rdx, -0x1
   15c  bzhi rdx, rdx, r11
   161  mov ecx, 0x20
   166  sub ecx, r11d
   169  shlx rdx, rdx, rcx
   16e  kmovq k2, rdx
   173  vmovdqu16 zmm16 {k2} {z}, zmmword ptr [rbx - 0x3e]
   17d  vpshufb zmm16, zmm16, zmmword ptr [rip - 0x1c7]
   187  vshufi64x2 zmm16, zmm16, zmm16, 0x1b
        ; store u16 $0 %0
   18e  vmovdqu16 zmmword ptr [r9 + 2*rsi] {k1}, zmm16
.L4:
        ; return
   195  mov rsp, qword ptr [rsp]
   199  pop rbx
   19a  ret
