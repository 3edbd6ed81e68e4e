        ; entry
     0  mov rax, rsp
     3  sub rsp, 0x40
     a  and rsp, -0x40
     e  mov qword ptr [rsp], rax
    12  vmovups zmm27, zmmword ptr [rip - 0x5c]
        ; enter a loop
    1c  mov rax, qword ptr [rdi + 0x8]
    20  mov rax, qword ptr [rax]
    23  mov qword ptr [rsp + 0x8], rax
    28  mov rax, qword ptr [rdi]
    2b  mov rax, qword ptr [rax]
    2e  mov qword ptr [rsp + 0x18], rax
    33  mov rax, qword ptr [rdi]
    36  mov rax, qword ptr [rax + 0x8]
    3a  mov qword ptr [rsp + 0x20], rax
.L0:
    3f  mov rax, qword ptr [rdi + 0x8]
    43  mov r8, qword ptr [rax + 0x10]
    47  xor esi, esi
    49  sub r8, 0x20
    4d  jb .L3
.L1:
        ; a strip of columns
    53  mov rdx, qword ptr [rsp + 0x18]
    58  mov r9, qword ptr [rsp + 0x20]
    5d  vmovups zmm31, zmmword ptr [rdx + 8*rsi]
    64  vmovups zmm30, zmmword ptr [rdx + 8*rsi + 0x40]
    6c  vmovups zmm29, zmmword ptr [rdx + 8*rsi + 0x80]
    74  vmovups zmm28, zmmword ptr [rdx + 8*rsi + 0xc0]
    7c  mov rax, qword ptr [rdi + 0x8]
    80  mov rax, qword ptr [rax + 0x8]
    84  mov qword ptr [rsp + 0x10], rax
    89  nop word ptr [rax + rax]
    92  nop word ptr [rax + rax]
    9b  nop dword ptr [rax + rax]
.L2:
        ; %0 = load f64 $1
    a0  vmovups zmm16, zmmword ptr [r9 + 8*rsi]
        ; %1 = abs f64 %0
    a7  vpandq zmm17, zmm16, zmm27
        ; accumulate f64 $0 maximum %1
    ad  vmaxpd zmm16, zmm31, zmm17
    b3  vfixupimmpd zmm16, zmm31, qword ptr [rip - 0x106]{1to8}, 0x0
    be  vmovaps zmm31, zmm16
        ; %0 = load f64 $1
    c4  vmovups zmm16, zmmword ptr [r9 + 8*rsi + 0x40]
        ; %1 = abs f64 %0
    cc  vpandq zmm17, zmm16, zmm27
        ; accumulate f64 $0 maximum %1
    d2  vmaxpd zmm16, zmm30, zmm17
    d8  vfixupimmpd zmm16, zmm30, qword ptr [rip - 0x12b]{1to8}, 0x0
    e3  vmovaps zmm30, zmm16
        ; %0 = load f64 $1
    e9  vmovups zmm16, zmmword ptr [r9 + 8*rsi + 0x80]
        ; %1 = abs f64 %0
    f1  vpandq zmm17, zmm16, zmm27
        ; accumulate f64 $0 maximum %1
    f7  vmaxpd zmm16, zmm29, zmm17
    fd  vfixupimmpd zmm16, zmm29, qword ptr [rip - 0x150]{1to8}, 0x0
   108  vmovaps zmm29, zmm16
        ; %0 = load f64 $1
   10e  vmovups zmm16, zmmword ptr [r9 + 8*rsi + 0xc0]
        ; %1 = abs f64 %0
   116  vpandq zmm17, zmm16, zmm27
        ; accumulate f64 $0 maximum %1
   11c  vmaxpd zmm16, zmm28, zmm17
   122  vfixupimmpd zmm16, zmm28, qword ptr [rip - 0x175]{1to8}, 0x0
   12d  vmovaps zmm28, zmm16
        ; next row
   133  mov rax, qword ptr [rdi + 0x10]
   137  add r9, qword ptr [rax + 0x18]
   13b  dec qword ptr [rsp + 0x10]
   140  jne .L2
        ; partial results
   146  vmovups zmmword ptr [rdx + 8*rsi], zmm31
   14d  vmovups zmmword ptr [rdx + 8*rsi + 0x40], zmm30
   155  vmovups zmmword ptr [rdx + 8*rsi + 0x80], zmm29
   15d  vmovups zmmword ptr [rdx + 8*rsi + 0xc0], zmm28
   165  add rsi, 0x20
   169  sub r8, 0x20
   16d  jae .L1
.L3:
   173  add r8, 0x20
   177  sub r8, 0x8
   17b  jb .L6
.L4:
        ; a strip of columns
   181  mov rdx, qword ptr [rsp + 0x18]
   186  mov r9, qword ptr [rsp + 0x20]
   18b  vmovups zmm31, zmmword ptr [rdx + 8*rsi]
   192  mov rax, qword ptr [rdi + 0x8]
   196  mov rax, qword ptr [rax + 0x8]
   19a  mov qword ptr [rsp + 0x10], rax
   19f  nop
.L5:
        ; %0 = load f64 $1
   1a0  vmovups zmm16, zmmword ptr [r9 + 8*rsi]
        ; %1 = abs f64 %0
   1a7  vpandq zmm17, zmm16, zmm27
        ; accumulate f64 $0 maximum %1
   1ad  vmaxpd zmm16, zmm31, zmm17
   1b3  vfixupimmpd zmm16, zmm31, qword ptr [rip - 0x206]{1to8}, 0x0
   1be  vmovaps zmm31, zmm16
        ; next row
   1c4  mov rax, qword ptr [rdi + 0x10]
   1c8  add r9, qword ptr [rax + 0x18]
   1cc  dec qword ptr [rsp + 0x10]
   1d1  jne .L5
        ; partial results
   1d3  vmovups zmmword ptr [rdx + 8*rsi], zmm31
   1da  add rsi, 0x8
   1de  sub r8, 0x8
   1e2  jae .L4
.L6:
   1e4  add r8, 0x8
   1e8  test r8, r8
   1eb  je .L8
        ; tail
   1f1  mov eax, 0xffffffff
   1f6  bzhi eax, eax, r8d
   1fb  kmovd k1, eax
   1ff  mov rdx, qword ptr [rsp + 0x18]
   204  mov r9, qword ptr [rsp + 0x20]
   209  vmovups zmm31, zmmword ptr [rdx + 8*rsi]
   210  mov rax, qword ptr [rdi + 0x8]
   214  mov rax, qword ptr [rax + 0x8]
   218  mov qword ptr [rsp + 0x10], rax
   21d  nop dword ptr [rax]
.L7:
        ; %0 = load f64 $1
   220  vmovdqu64 zmm16 {k1} {z}, zmmword ptr [r9 + 8*rsi]
        ; %1 = abs f64 %0
   227  vpandq zmm17, zmm16, zmm27
        ; accumulate f64 $0 maximum %1
   22d  vmaxpd zmm16, zmm31, zmm17
   233  vfixupimmpd zmm16, zmm31, qword ptr [rip - 0x286]{1to8}, 0x0
   23e  vmovaps zmm31, zmm16
        ; next row
   244  mov rax, qword ptr [rdi + 0x10]
   248  add r9, qword ptr [rax + 0x18]
   24c  dec qword ptr [rsp + 0x10]
   251  jne .L7
        ; partial results
   253  vmovups zmmword ptr [rdx + 8*rsi], zmm31
.L8:
        ; next iteration
   25a  mov rax, qword ptr [rdi + 0x10]
   25e  mov rcx, qword ptr [rax]
   261  add qword ptr [rsp + 0x18], rcx
   266  mov rcx, qword ptr [rax + 0x8]
   26a  add qword ptr [rsp + 0x20], rcx
   26f  dec qword ptr [rsp + 0x8]
   274  jne .L0
        ; return
   27a  mov rsp, qword ptr [rsp]
   27e  ret
