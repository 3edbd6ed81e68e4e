        ; entry
     0  mov rax, rsp
     3  sub rsp, 0x40
     a  and rsp, -0x40
     e  mov qword ptr [rsp], rax
        ; enter a loop
    12  mov rax, qword ptr [rdi + 0x8]
    16  mov rax, qword ptr [rax]
    19  mov qword ptr [rsp + 0x8], rax
    1e  mov rax, qword ptr [rdi]
    21  mov rax, qword ptr [rax]
    24  mov qword ptr [rsp + 0x18], rax
    29  mov rax, qword ptr [rdi]
    2c  mov rax, qword ptr [rax + 0x8]
    30  mov qword ptr [rsp + 0x20], rax
    35  mov rax, qword ptr [rdi]
    38  mov rax, qword ptr [rax + 0x10]
    3c  mov qword ptr [rsp + 0x28], rax
.L0:
        ; enter a loop
    41  mov rax, qword ptr [rdi + 0x8]
    45  mov rax, qword ptr [rax + 0x8]
    49  mov r11, rax
    4c  mov r9, qword ptr [rsp + 0x18]
    51  mov r10, qword ptr [rsp + 0x20]
    56  mov rdx, qword ptr [rsp + 0x28]
.L1:
    5b  mov rax, qword ptr [rdi + 0x8]
    5f  mov r8, qword ptr [rax + 0x10]
        ; start of a row
    63  xor esi, esi
    65  sub r8, 0x40
    69  jb .L3
        ; partial results
    6f  vmovups zmm31, zmmword ptr [r9]
    75  vmovups zmm30, zmmword ptr [r9 + 0x40]
    7c  vmovups zmm29, zmmword ptr [r9 + 0x80]
    83  vmovups zmm28, zmmword ptr [r9 + 0xc0]
    8a  vmovups zmm27, zmmword ptr [r10]
    90  vmovups zmm26, zmmword ptr [r10 + 0x40]
    97  vmovups zmm25, zmmword ptr [r10 + 0x80]
    9e  vmovups zmm24, zmmword ptr [r10 + 0xc0]
    a5  nop word ptr [rax + rax]
    ae  nop word ptr [rax + rax]
    b7  nop word ptr [rax + rax]
.L2:
        ; %0 = load f32 $2
    c0  vmovups zmm16, zmmword ptr [rdx + 4*rsi]
        ; accumulate f32 $0 minimum %0
    c7  vminps zmm17, zmm31, zmm16
    cd  vfixupimmps zmm17, zmm31, dword ptr [rip - 0xdc]{1to16}, 0x0
    d8  vmovaps zmm31, zmm17
        ; accumulate f32 $1 maximum %0
    de  vmaxps zmm17, zmm27, zmm16
    e4  vfixupimmps zmm17, zmm27, dword ptr [rip - 0xf3]{1to16}, 0x0
    ef  vmovaps zmm27, zmm17
        ; %0 = load f32 $2
    f5  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0x40]
        ; accumulate f32 $0 minimum %0
    fd  vminps zmm17, zmm30, zmm16
   103  vfixupimmps zmm17, zmm30, dword ptr [rip - 0x112]{1to16}, 0x0
   10e  vmovaps zmm30, zmm17
        ; accumulate f32 $1 maximum %0
   114  vmaxps zmm17, zmm26, zmm16
   11a  vfixupimmps zmm17, zmm26, dword ptr [rip - 0x129]{1to16}, 0x0
   125  vmovaps zmm26, zmm17
        ; %0 = load f32 $2
   12b  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0x80]
        ; accumulate f32 $0 minimum %0
   133  vminps zmm17, zmm29, zmm16
   139  vfixupimmps zmm17, zmm29, dword ptr [rip - 0x148]{1to16}, 0x0
   144  vmovaps zmm29, zmm17
        ; accumulate f32 $1 maximum %0
   14a  vmaxps zmm17, zmm25, zmm16
   150  vfixupimmps zmm17, zmm25, dword ptr [rip - 0x15f]{1to16}, 0x0
   15b  vmovaps zmm25, zmm17
        ; %0 = load f32 $2
   161  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0xc0]
        ; accumulate f32 $0 minimum %0
   169  vminps zmm17, zmm28, zmm16
   16f  vfixupimmps zmm17, zmm28, dword ptr [rip - 0x17e]{1to16}, 0x0
   17a  vmovaps zmm28, zmm17
        ; accumulate f32 $1 maximum %0
   180  vmaxps zmm17, zmm24, zmm16
   186  vfixupimmps zmm17, zmm24, dword ptr [rip - 0x195]{1to16}, 0x0
   191  vmovaps zmm24, zmm17
        ; addresses
   197  add rsi, 0x40
   19b  sub r8, 0x40
   19f  jae .L2
        ; partial results
   1a5  vmovups zmmword ptr [r9], zmm31
   1ab  vmovups zmmword ptr [r9 + 0x40], zmm30
   1b2  vmovups zmmword ptr [r9 + 0x80], zmm29
   1b9  vmovups zmmword ptr [r9 + 0xc0], zmm28
   1c0  vmovups zmmword ptr [r10], zmm27
   1c6  vmovups zmmword ptr [r10 + 0x40], zmm26
   1cd  vmovups zmmword ptr [r10 + 0x80], zmm25
   1d4  vmovups zmmword ptr [r10 + 0xc0], zmm24
.L3:
   1db  add r8, 0x40
        ; vectors
   1df  sub r8, 0x10
   1e3  jb .L5
   1e9  nop word ptr [rax + rax]
   1f2  nop word ptr [rax + rax]
   1fb  nop dword ptr [rax + rax]
.L4:
        ; %0 = load f32 $2
   200  vmovups zmm16, zmmword ptr [rdx + 4*rsi]
        ; accumulate f32 $0 minimum %0
   207  mov ecx, esi
   209  and ecx, 0x3f
   20c  vmovups zmm18, zmmword ptr [r9 + 4*rcx]
   213  vminps zmm17, zmm18, zmm16
   219  vfixupimmps zmm17, zmm18, dword ptr [rip - 0x228]{1to16}, 0x0
   224  mov ecx, esi
   226  and ecx, 0x3f
   229  vmovups zmmword ptr [r9 + 4*rcx], zmm17
        ; accumulate f32 $1 maximum %0
   230  mov ecx, esi
   232  and ecx, 0x3f
   235  vmovups zmm18, zmmword ptr [r10 + 4*rcx]
   23c  vmaxps zmm17, zmm18, zmm16
   242  vfixupimmps zmm17, zmm18, dword ptr [rip - 0x251]{1to16}, 0x0
   24d  mov ecx, esi
   24f  and ecx, 0x3f
   252  vmovups zmmword ptr [r10 + 4*rcx], zmm17
        ; addresses
   259  add rsi, 0x10
   25d  sub r8, 0x10
   261  jae .L4
.L5:
   263  add r8, 0x10
   267  je .L6
        ; tail
   26d  mov eax, 0xffffffff
   272  bzhi eax, eax, r8d
   277  kmovd k1, eax
        ; %0 = load f32 $2
   27b  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rdx + 4*rsi]
        ; accumulate f32 $0 minimum %0
   282  mov ecx, esi
   284  and ecx, 0x3f
   287  vmovups zmm18, zmmword ptr [r9 + 4*rcx]
   28e  vminps zmm17, zmm18, zmm16
   294  vfixupimmps zmm17, zmm18, dword ptr [rip - 0x2a3]{1to16}, 0x0
   29f  vmovdqa32 zmm18 {k1}, zmm17
   2a5  mov ecx, esi
   2a7  and ecx, 0x3f
   2aa  vmovups zmmword ptr [r9 + 4*rcx], zmm18
        ; accumulate f32 $1 maximum %0
   2b1  mov ecx, esi
   2b3  and ecx, 0x3f
   2b6  vmovups zmm18, zmmword ptr [r10 + 4*rcx]
   2bd  vmaxps zmm17, zmm18, zmm16
   2c3  vfixupimmps zmm17, zmm18, dword ptr [rip - 0x2d2]{1to16}, 0x0
   2ce  vmovdqa32 zmm18 {k1}, zmm17
   2d4  mov ecx, esi
   2d6  and ecx, 0x3f
   2d9  vmovups zmmword ptr [r10 + 4*rcx], zmm18
.L6:
        ; next iteration
   2e0  mov rax, qword ptr [rdi + 0x10]
   2e4  add rdx, qword ptr [rax + 0x28]
   2e8  dec r11
   2eb  jne .L1
        ; next iteration
   2f1  mov rax, qword ptr [rdi + 0x10]
   2f5  mov rcx, qword ptr [rax]
   2f8  add qword ptr [rsp + 0x18], rcx
   2fd  mov rcx, qword ptr [rax + 0x8]
   301  add qword ptr [rsp + 0x20], rcx
   306  mov rcx, qword ptr [rax + 0x10]
   30a  add qword ptr [rsp + 0x28], rcx
   30f  dec qword ptr [rsp + 0x8]
   314  jne .L0
        ; return
   31a  mov rsp, qword ptr [rsp]
   31e  ret
