        ; entry
     0  mov rax, rsp
     3  sub rsp, 0x40
     a  and rsp, -0x40
     e  mov qword ptr [rsp + 0x10], rax
        ; enter a loop
    13  mov rax, qword ptr [rdi + 0x8]
    17  mov rax, qword ptr [rax]
    1a  mov qword ptr [rsp + 0x18], rax
    1f  mov rax, qword ptr [rdi]
    22  mov rax, qword ptr [rax]
    25  mov qword ptr [rsp + 0x28], rax
    2a  mov rax, qword ptr [rdi]
    2d  mov rax, qword ptr [rax + 0x8]
    31  mov qword ptr [rsp + 0x30], rax
    36  mov rax, qword ptr [rdi]
    39  mov rax, qword ptr [rax + 0x10]
    3d  mov qword ptr [rsp + 0x38], rax
.L0:
        ; enter a loop
    42  mov rax, qword ptr [rdi + 0x8]
    46  mov rax, qword ptr [rax + 0x8]
    4a  mov qword ptr [rsp + 0x20], rax
    4f  mov rax, qword ptr [rsp + 0x28]
    54  mov qword ptr [rsp], rax
    58  mov rax, qword ptr [rsp + 0x30]
    5d  mov qword ptr [rsp + 0x8], rax
    62  mov rdx, qword ptr [rsp + 0x38]
.L1:
    67  mov rax, qword ptr [rdi + 0x8]
    6b  mov r8, qword ptr [rax + 0x10]
        ; start of a row
    6f  xor esi, esi
    71  sub r8, 0x40
    75  jb .L3
        ; partial results
    7b  mov rax, qword ptr [rsp]
    7f  vmovups zmm31, zmmword ptr [rax]
    85  mov rax, qword ptr [rsp]
    89  vmovups zmm30, zmmword ptr [rax + 0x40]
    90  mov rax, qword ptr [rsp]
    94  vmovups zmm29, zmmword ptr [rax + 0x80]
    9b  mov rax, qword ptr [rsp]
    9f  vmovups zmm28, zmmword ptr [rax + 0xc0]
    a6  mov rax, qword ptr [rsp + 0x8]
    ab  vmovups zmm27, zmmword ptr [rax]
    b1  mov rax, qword ptr [rsp + 0x8]
    b6  vmovups zmm26, zmmword ptr [rax + 0x40]
    bd  mov rax, qword ptr [rsp + 0x8]
    c2  vmovups zmm25, zmmword ptr [rax + 0x80]
    c9  mov rax, qword ptr [rsp + 0x8]
    ce  vmovups zmm24, zmmword ptr [rax + 0xc0]
    d5  nop word ptr [rax + rax]
    de  nop
.L2:
        ; %0 = load f32 $2
    e0  vmovups zmm16, zmmword ptr [rdx + 4*rsi]
        ; accumulate f32 $0 minimum %0
    e7  vminps zmm17, zmm31, zmm16
    ed  vfixupimmps zmm17, zmm31, dword ptr [rip - 0xfc]{1to16}, 0x0
    f8  vmovaps zmm31, zmm17
        ; accumulate f32 $1 maximum %0
    fe  vmaxps zmm17, zmm27, zmm16
   104  vfixupimmps zmm17, zmm27, dword ptr [rip - 0x113]{1to16}, 0x0
   10f  vmovaps zmm27, zmm17
        ; %0 = load f32 $2
   115  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0x40]
        ; accumulate f32 $0 minimum %0
   11d  vminps zmm17, zmm30, zmm16
   123  vfixupimmps zmm17, zmm30, dword ptr [rip - 0x132]{1to16}, 0x0
   12e  vmovaps zmm30, zmm17
        ; accumulate f32 $1 maximum %0
   134  vmaxps zmm17, zmm26, zmm16
   13a  vfixupimmps zmm17, zmm26, dword ptr [rip - 0x149]{1to16}, 0x0
   145  vmovaps zmm26, zmm17
        ; %0 = load f32 $2
   14b  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0x80]
        ; accumulate f32 $0 minimum %0
   153  vminps zmm17, zmm29, zmm16
   159  vfixupimmps zmm17, zmm29, dword ptr [rip - 0x168]{1to16}, 0x0
   164  vmovaps zmm29, zmm17
        ; accumulate f32 $1 maximum %0
   16a  vmaxps zmm17, zmm25, zmm16
   170  vfixupimmps zmm17, zmm25, dword ptr [rip - 0x17f]{1to16}, 0x0
   17b  vmovaps zmm25, zmm17
        ; %0 = load f32 $2
   181  vmovups zmm16, zmmword ptr [rdx + 4*rsi + 0xc0]
        ; accumulate f32 $0 minimum %0
   189  vminps zmm17, zmm28, zmm16
   18f  vfixupimmps zmm17, zmm28, dword ptr [rip - 0x19e]{1to16}, 0x0
   19a  vmovaps zmm28, zmm17
        ; accumulate f32 $1 maximum %0
   1a0  vmaxps zmm17, zmm24, zmm16
   1a6  vfixupimmps zmm17, zmm24, dword ptr [rip - 0x1b5]{1to16}, 0x0
   1b1  vmovaps zmm24, zmm17
        ; addresses
   1b7  add rsi, 0x40
   1bb  sub r8, 0x40
   1bf  jae .L2
        ; partial results
   1c5  mov rax, qword ptr [rsp]
   1c9  vmovups zmmword ptr [rax], zmm31
   1cf  mov rax, qword ptr [rsp]
   1d3  vmovups zmmword ptr [rax + 0x40], zmm30
   1da  mov rax, qword ptr [rsp]
   1de  vmovups zmmword ptr [rax + 0x80], zmm29
   1e5  mov rax, qword ptr [rsp]
   1e9  vmovups zmmword ptr [rax + 0xc0], zmm28
   1f0  mov rax, qword ptr [rsp + 0x8]
   1f5  vmovups zmmword ptr [rax], zmm27
   1fb  mov rax, qword ptr [rsp + 0x8]
   200  vmovups zmmword ptr [rax + 0x40], zmm26
   207  mov rax, qword ptr [rsp + 0x8]
   20c  vmovups zmmword ptr [rax + 0x80], zmm25
   213  mov rax, qword ptr [rsp + 0x8]
   218  vmovups zmmword ptr [rax + 0xc0], zmm24
.L3:
   21f  add r8, 0x40
        ; vectors
   223  sub r8, 0x10
   227  jb .L5
   22d  nop word ptr [rax + rax]
   236  nop word ptr [rax + rax]
   23f  nop
.L4:
        ; %0 = load f32 $2
   240  vmovups zmm16, zmmword ptr [rdx + 4*rsi]
        ; accumulate f32 $0 minimum %0
   247  mov ecx, esi
   249  and ecx, 0x3f
   24c  mov rax, qword ptr [rsp]
   250  vmovups zmm18, zmmword ptr [rax + 4*rcx]
   257  vminps zmm17, zmm18, zmm16
   25d  vfixupimmps zmm17, zmm18, dword ptr [rip - 0x26c]{1to16}, 0x0
   268  mov ecx, esi
   26a  and ecx, 0x3f
   26d  mov rax, qword ptr [rsp]
   271  vmovups zmmword ptr [rax + 4*rcx], zmm17
        ; accumulate f32 $1 maximum %0
   278  mov ecx, esi
   27a  and ecx, 0x3f
   27d  mov rax, qword ptr [rsp + 0x8]
   282  vmovups zmm18, zmmword ptr [rax + 4*rcx]
   289  vmaxps zmm17, zmm18, zmm16
   28f  vfixupimmps zmm17, zmm18, dword ptr [rip - 0x29e]{1to16}, 0x0
   29a  mov ecx, esi
   29c  and ecx, 0x3f
   29f  mov rax, qword ptr [rsp + 0x8]
   2a4  vmovups zmmword ptr [rax + 4*rcx], zmm17
        ; addresses
   2ab  add rsi, 0x10
   2af  sub r8, 0x10
   2b3  jae .L4
.L5:
   2b5  add r8, 0x10
   2b9  je .L6
        ; tail
   2bf  mov eax, 0xffffffff
   2c4  bzhi eax, eax, r8d
   2c9  kmovd k1, eax
        ; %0 = load f32 $2
   2cd  vmovdqu32 zmm16 {k1} {z}, zmmword ptr [rdx + 4*rsi]
        ; accumulate f32 $0 minimum %0
   2d4  mov ecx, esi
   2d6  and ecx, 0x3f
   2d9  mov rax, qword ptr [rsp]
   2dd  vmovups zmm18, zmmword ptr [rax + 4*rcx]
   2e4  vminps zmm17, zmm18, zmm16
   2ea  vfixupimmps zmm17, zmm18, dword ptr [rip - 0x2f9]{1to16}, 0x0
   2f5  vmovdqa32 zmm18 {k1}, zmm17
   2fb  mov ecx, esi
   2fd  and ecx, 0x3f
   300  mov rax, qword ptr [rsp]
   304  vmovups zmmword ptr [rax + 4*rcx], zmm18
        ; accumulate f32 $1 maximum %0
   30b  mov ecx, esi
   30d  and ecx, 0x3f
   310  mov rax, qword ptr [rsp + 0x8]
   315  vmovups zmm18, zmmword ptr [rax + 4*rcx]
   31c  vmaxps zmm17, zmm18, zmm16
   322  vfixupimmps zmm17, zmm18, dword ptr [rip - 0x331]{1to16}, 0x0
   32d  vmovdqa32 zmm18 {k1}, zmm17
   333  mov ecx, esi
   335  and ecx, 0x3f
   338  mov rax, qword ptr [rsp + 0x8]
   33d  vmovups zmmword ptr [rax + 4*rcx], zmm18
.L6:
        ; next iteration
   344  mov rax, qword ptr [rdi + 0x10]
   348  add rdx, qword ptr [rax + 0x28]
   34c  dec qword ptr [rsp + 0x20]
   351  jne .L1
        ; next iteration
   357  mov rax, qword ptr [rdi + 0x10]
   35b  mov rcx, qword ptr [rax]
   35e  add qword ptr [rsp + 0x28], rcx
   363  mov rcx, qword ptr [rax + 0x8]
   367  add qword ptr [rsp + 0x30], rcx
   36c  mov rcx, qword ptr [rax + 0x10]
   370  add qword ptr [rsp + 0x38], rcx
   375  dec qword ptr [rsp + 0x18]
   37a  jne .L0
        ; return
   380  mov rsp, qword ptr [rsp + 0x10]
   385  ret
