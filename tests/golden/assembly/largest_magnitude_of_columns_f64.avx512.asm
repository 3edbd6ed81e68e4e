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
.L0:
    35  mov rax, qword ptr [rdi + 0x8]
    39  mov r8, qword ptr [rax + 0x10]
    3d  xor esi, esi
    3f  sub r8, 0x20
    43  jb .L3
.L1:
        ; a strip of columns
    49  mov rdx, qword ptr [rsp + 0x18]
    4e  mov r9, qword ptr [rsp + 0x20]
    53  vmovups zmm31, zmmword ptr [rdx + 8*rsi]
    5a  vmovups zmm30, zmmword ptr [rdx + 8*rsi + 0x40]
    62  vmovups zmm29, zmmword ptr [rdx + 8*rsi + 0x80]
    6a  vmovups zmm28, zmmword ptr [rdx + 8*rsi + 0xc0]
    72  mov rax, qword ptr [rdi + 0x8]
    76  mov rax, qword ptr [rax + 0x8]
    7a  mov qword ptr [rsp + 0x10], rax
    7f  nop
.L2:
        ; %0 = load f64 $1
    80  vmovups zmm16, zmmword ptr [r9 + 8*rsi]
        ; %1 = abs f64 %0
    87  vpandq zmm17, zmm16, zmmword ptr [rip - 0xd1]
        ; accumulate f64 $0 maximum %1
    91  vmaxpd zmm16, zmm31, zmm17
    97  vfixupimmpd zmm16, zmm31, qword ptr [rip - 0xea]{1to8}, 0x0
    a2  vmovaps zmm31, zmm16
        ; %0 = load f64 $1
    a8  vmovups zmm16, zmmword ptr [r9 + 8*rsi + 0x40]
        ; %1 = abs f64 %0
    b0  vpandq zmm17, zmm16, zmmword ptr [rip - 0xfa]
        ; accumulate f64 $0 maximum %1
    ba  vmaxpd zmm16, zmm30, zmm17
    c0  vfixupimmpd zmm16, zmm30, qword ptr [rip - 0x113]{1to8}, 0x0
    cb  vmovaps zmm30, zmm16
        ; %0 = load f64 $1
    d1  vmovups zmm16, zmmword ptr [r9 + 8*rsi + 0x80]
        ; %1 = abs f64 %0
    d9  vpandq zmm17, zmm16, zmmword ptr [rip - 0x123]
        ; accumulate f64 $0 maximum %1
    e3  vmaxpd zmm16, zmm29, zmm17
    e9  vfixupimmpd zmm16, zmm29, qword ptr [rip - 0x13c]{1to8}, 0x0
    f4  vmovaps zmm29, zmm16
        ; %0 = load f64 $1
    fa  vmovups zmm16, zmmword ptr [r9 + 8*rsi + 0xc0]
        ; %1 = abs f64 %0
   102  vpandq zmm17, zmm16, zmmword ptr [rip - 0x14c]
        ; accumulate f64 $0 maximum %1
   10c  vmaxpd zmm16, zmm28, zmm17
   112  vfixupimmpd zmm16, zmm28, qword ptr [rip - 0x165]{1to8}, 0x0
   11d  vmovaps zmm28, zmm16
        ; next row
   123  mov rax, qword ptr [rdi + 0x10]
   127  add r9, qword ptr [rax + 0x18]
   12b  dec qword ptr [rsp + 0x10]
   130  jne .L2
        ; partial results
   136  vmovups zmmword ptr [rdx + 8*rsi], zmm31
   13d  vmovups zmmword ptr [rdx + 8*rsi + 0x40], zmm30
   145  vmovups zmmword ptr [rdx + 8*rsi + 0x80], zmm29
   14d  vmovups zmmword ptr [rdx + 8*rsi + 0xc0], zmm28
   155  add rsi, 0x20
   159  sub r8, 0x20
   15d  jae .L1
.L3:
   163  add r8, 0x20
   167  sub r8, 0x8
   16b  jb .L6
.L4:
        ; a strip of columns
   171  mov rdx, qword ptr [rsp + 0x18]
   176  mov r9, qword ptr [rsp + 0x20]
   17b  vmovups zmm31, zmmword ptr [rdx + 8*rsi]
   182  mov rax, qword ptr [rdi + 0x8]
   186  mov rax, qword ptr [rax + 0x8]
   18a  mov qword ptr [rsp + 0x10], rax
   18f  nop word ptr [rax + rax]
   198  nop dword ptr [rax + rax]
.L5:
        ; %0 = load f64 $1
   1a0  vmovups zmm16, zmmword ptr [r9 + 8*rsi]
        ; %1 = abs f64 %0
   1a7  vpandq zmm17, zmm16, zmmword ptr [rip - 0x1f1]
        ; accumulate f64 $0 maximum %1
   1b1  vmaxpd zmm16, zmm31, zmm17
   1b7  vfixupimmpd zmm16, zmm31, qword ptr [rip - 0x20a]{1to8}, 0x0
   1c2  vmovaps zmm31, zmm16
        ; next row
   1c8  mov rax, qword ptr [rdi + 0x10]
   1cc  add r9, qword ptr [rax + 0x18]
   1d0  dec qword ptr [rsp + 0x10]
   1d5  jne .L5
        ; partial results
   1d7  vmovups zmmword ptr [rdx + 8*rsi], zmm31
   1de  add rsi, 0x8
   1e2  sub r8, 0x8
   1e6  jae .L4
.L6:
   1e8  add r8, 0x8
   1ec  test r8, r8
   1ef  je .L8
        ; tail
   1f5  mov eax, 0xffffffff
   1fa  bzhi eax, eax, r8d
   1ff  kmovd k1, eax
   203  mov rdx, qword ptr [rsp + 0x18]
   208  mov r9, qword ptr [rsp + 0x20]
   20d  vmovups zmm31, zmmword ptr [rdx + 8*rsi]
   214  mov rax, qword ptr [rdi + 0x8]
   218  mov rax, qword ptr [rax + 0x8]
   21c  mov qword ptr [rsp + 0x10], rax
   221  nop word ptr [rax + rax]
   22a  nop word ptr [rax + rax]
   233  nop word ptr [rax + rax]
   23c  nop dword ptr [rax]
.L7:
        ; %0 = load f64 $1
   240  vmovdqu64 zmm16 {k1} {z}, zmmword ptr [r9 + 8*rsi]
        ; %1 = abs f64 %0
   247  vpandq zmm17, zmm16, zmmword ptr [rip - 0x291]
        ; accumulate f64 $0 maximum %1
   251  vmaxpd zmm16, zmm31, zmm17
   257  vfixupimmpd zmm16, zmm31, qword ptr [rip - 0x2aa]{1to8}, 0x0
   262  vmovaps zmm31, zmm16
        ; next row
   268  mov rax, qword ptr [rdi + 0x10]
   26c  add r9, qword ptr [rax + 0x18]
   270  dec qword ptr [rsp + 0x10]
   275  jne .L7
        ; partial results
   277  vmovups zmmword ptr [rdx + 8*rsi], zmm31
.L8:
        ; next iteration
   27e  mov rax, qword ptr [rdi + 0x10]
   282  mov rcx, qword ptr [rax]
   285  add qword ptr [rsp + 0x18], rcx
   28a  mov rcx, qword ptr [rax + 0x8]
   28e  add qword ptr [rsp + 0x20], rcx
   293  dec qword ptr [rsp + 0x8]
   298  jne .L0
        ; return
   29e  mov rsp, qword ptr [rsp]
   2a2  ret
