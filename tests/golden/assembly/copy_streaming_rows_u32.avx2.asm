        ; entry
     0  push rbx
     1  push rbp
     2  mov rax, rsp
     5  sub rsp, 0x40
     c  and rsp, -0x40
    10  mov qword ptr [rsp], rax
        ; enter a loop
    14  mov rax, qword ptr [rdi + 0x8]
    18  mov rax, qword ptr [rax]
    1b  mov rbp, rax
    1e  mov rcx, qword ptr [rdi]
    21  mov r9, qword ptr [rcx]
    24  mov rbx, qword ptr [rcx + 0x8]
.L0:
    28  mov rax, qword ptr [rdi + 0x8]
    2c  mov r8, qword ptr [rax + 0x8]
        ; start of the innermost loop
    30  xor esi, esi
        ; head, up to where the output is aligned
    32  lea rcx, [r9 + 4*rsi]
    36  neg rcx
    39  and ecx, 0x1f
    3c  shr ecx, 0x2
    3f  mov r11, rcx
    42  cmp r11, r8
    45  cmova r11, r8
    49  cmp r8, 0x80
    50  jae .L1
    56  test r11, r11
    59  jne .L11
.L1:
    5f  test r11, r11
    62  je .L2
        ; %0 = load u32 $1
    68  lea rcx, [rip - 0xaf]
    6f  mov rdx, r11
    72  neg rdx
    75  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
    7b  vpmaskmovd ymm0, ymm1, ymmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
    81  lea rcx, [rip - 0xc8]
    88  mov rdx, r11
    8b  neg rdx
    8e  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
    94  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm1, ymm0
        ; addresses
    9a  add rsi, r11
    9d  sub r8, r11
.L2:
        ; vectors, up to where a line begins
    a0  lea rcx, [r9 + 4*rsi]
    a4  test ecx, 0x3f
    aa  je .L3
    b0  cmp r8, 0x8
    b4  jb .L3
        ; %0 = load u32 $1
    ba  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
    bf  vmovups ymmword ptr [r9 + 4*rsi], ymm0
        ; addresses
    c5  add rsi, 0x8
    c9  sub r8, 0x8
    cd  jne .L2
.L3:
    cf  xor ecx, ecx
    d1  lea rdx, [r9 + 4*rsi]
    d5  and edx, 0x3f
    d8  or ecx, edx
    da  test ecx, ecx
    dc  jne .L11
    e2  sub r8, 0x1000
    e9  jb .L6
.L4:
        ; four pages in turn
    ef  mov r11d, 0x40
    f5  nop word ptr [rax + rax]
    fe  nop
.L5:
        ; %0 = load u32 $1
   100  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
   105  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
   10b  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x1000]
   114  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x1020]
        ; store u32 $0 %0
   11d  vmovntps ymmword ptr [r9 + 4*rsi], ymm0
   123  vmovntps ymmword ptr [r9 + 4*rsi + 0x20], ymm1
   12a  vmovntps ymmword ptr [r9 + 4*rsi + 0x1000], ymm2
   134  vmovntps ymmword ptr [r9 + 4*rsi + 0x1020], ymm3
        ; %0 = load u32 $1
   13e  vmovups ymm0, ymmword ptr [rbx + 4*rsi + 0x2000]
   147  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x2020]
   150  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x3000]
   159  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x3020]
        ; store u32 $0 %0
   162  vmovntps ymmword ptr [r9 + 4*rsi + 0x2000], ymm0
   16c  vmovntps ymmword ptr [r9 + 4*rsi + 0x2020], ymm1
   176  vmovntps ymmword ptr [r9 + 4*rsi + 0x3000], ymm2
   180  vmovntps ymmword ptr [r9 + 4*rsi + 0x3020], ymm3
        ; addresses
   18a  add rsi, 0x10
   18e  dec r11d
   191  jne .L5
   197  add rsi, 0xc00
   19e  sub r8, 0x1000
   1a5  jae .L4
.L6:
   1ab  add r8, 0x1000
   1b2  mov rcx, r8
   1b5  and ecx, 0xf
   1b8  mov qword ptr [rsp + 0x10], rcx
   1bd  sub r8, rcx
        ; vectors, stored past the caches
   1c0  sub r8, 0x20
   1c4  jb .L8
   1ca  add r8, rsi
   1cd  nop word ptr [rax + rax]
   1d6  nop word ptr [rax + rax]
   1df  nop
.L7:
        ; %0 = load u32 $1
   1e0  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
   1e5  vmovups ymm1, ymmword ptr [rbx + 4*rsi + 0x20]
   1eb  vmovups ymm2, ymmword ptr [rbx + 4*rsi + 0x40]
   1f1  vmovups ymm3, ymmword ptr [rbx + 4*rsi + 0x60]
        ; store u32 $0 %0
   1f7  vmovntps ymmword ptr [r9 + 4*rsi], ymm0
   1fd  vmovntps ymmword ptr [r9 + 4*rsi + 0x20], ymm1
   204  vmovntps ymmword ptr [r9 + 4*rsi + 0x40], ymm2
   20b  vmovntps ymmword ptr [r9 + 4*rsi + 0x60], ymm3
        ; addresses
   212  add rsi, 0x20
   216  cmp rsi, r8
   219  jbe .L7
   21b  sub r8, rsi
.L8:
   21e  add r8, 0x18
   222  js .L10
   228  nop word ptr [rax + rax]
   231  nop word ptr [rax + rax]
   23a  nop word ptr [rax + rax]
.L9:
        ; %0 = load u32 $1
   240  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   245  vmovntps ymmword ptr [r9 + 4*rsi], ymm0
        ; addresses
   24b  add rsi, 0x8
   24f  sub r8, 0x8
   253  jae .L9
.L10:
   255  add r8, 0x8
   259  add r8, qword ptr [rsp + 0x10]
.L11:
        ; vectors
   25e  sub r8, 0x8
   262  jb .L13
   268  nop word ptr [rax + rax]
   271  nop word ptr [rax + rax]
   27a  nop word ptr [rax + rax]
.L12:
        ; %0 = load u32 $1
   280  vmovups ymm0, ymmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   285  vmovups ymmword ptr [r9 + 4*rsi], ymm0
        ; addresses
   28b  add rsi, 0x8
   28f  sub r8, 0x8
   293  jae .L12
.L13:
   295  add r8, 0x8
   299  test r8, r8
   29c  je .L14
        ; tail
   2a2  mov r11d, 0x8
   2a8  cmp r8, r11
   2ab  cmovb r11, r8
        ; %0 = load u32 $1
   2af  lea rcx, [rip - 0x2f6]
   2b6  mov rdx, r11
   2b9  neg rdx
   2bc  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   2c2  vpmaskmovd ymm0, ymm1, ymmword ptr [rbx + 4*rsi]
        ; store u32 $0 %0
   2c8  lea rcx, [rip - 0x30f]
   2cf  mov rdx, r11
   2d2  neg rdx
   2d5  vmovups ymm1, ymmword ptr [rcx + 4*rdx + 0x20]
   2db  vpmaskmovd ymmword ptr [r9 + 4*rsi], ymm1, ymm0
.L14:
        ; next iteration
   2e1  mov rax, qword ptr [rdi + 0x10]
   2e5  add r9, qword ptr [rax]
   2e8  add rbx, qword ptr [rax + 0x8]
   2ec  dec rbp
   2ef  jne .L0
        ; return
   2f5  sfence
   2f8  vzeroupper
   2fb  mov rsp, qword ptr [rsp]
   2ff  pop rbp
   300  pop rbx
   301  ret
