        ; entry
     0  push rbx
     1  push rbp
     2  mov rax, rsp
     5  sub rsp, 0xc0
     c  and rsp, -0x40
    10  mov qword ptr [rsp], rax
    14  mov rcx, qword ptr [rdi]
    17  mov r9, qword ptr [rcx]
    1a  mov rbx, qword ptr [rcx + 0x8]
    1e  mov rbp, qword ptr [rcx + 0x10]
    22  mov rax, qword ptr [rdi + 0x8]
    26  mov r8, qword ptr [rax]
        ; start of the innermost loop
    29  xor esi, esi
        ; vectors
    2b  sub r8, 0x8
    2f  jb .L1
    35  nop word ptr [rax + rax]
    3e  nop
.L0:
        ; %0 = load u8 $1
    40  vmovd xmm0, dword ptr [rbx + rsi]
    45  vmovd xmm1, dword ptr [rbx + rsi + 0x4]
        ; %1 = cast f64 %0
    4b  vpmovzxbd xmm3, xmm0
    50  vcvtdq2pd ymm2, xmm3
    54  vpmovzxbd xmm3, xmm1
    59  vcvtdq2pd ymm0, xmm3
        ; %2 = load f32 $2
    5d  vmovups xmm1, xmmword ptr [rbp + 4*rsi]
    63  vmovups xmm3, xmmword ptr [rbp + 4*rsi + 0x10]
        ; %3 = cast f64 %2
    69  vcvtps2pd ymm4, xmm1
    6d  vcvtps2pd ymm1, xmm3
        ; %4 = add f64 %1, %3
    71  vaddpd ymm3, ymm2, ymm4
    75  vaddpd ymm2, ymm0, ymm1
        ; %5 = cast f32 %4
    79  vcvtpd2ps xmm0, ymm3
    7d  vcvtpd2ps xmm1, ymm2
        ; store f32 $0 %5
    81  vmovups xmmword ptr [r9 + 4*rsi], xmm0
    87  vmovups xmmword ptr [r9 + 4*rsi + 0x10], xmm1
        ; addresses
    8e  add rsi, 0x8
    92  sub r8, 0x8
    96  jae .L0
.L1:
    98  add r8, 0x4
    9c  js .L3
    a2  nop word ptr [rax + rax]
    ab  nop word ptr [rax + rax]
    b4  nop word ptr [rax + rax]
    bd  nop dword ptr [rax]
.L2:
        ; %0 = load u8 $1
    c0  vmovd xmm0, dword ptr [rbx + rsi]
        ; %1 = cast f64 %0
    c5  vpmovzxbd xmm2, xmm0
    ca  vcvtdq2pd ymm1, xmm2
        ; %2 = load f32 $2
    ce  vmovups xmm0, xmmword ptr [rbp + 4*rsi]
        ; %3 = cast f64 %2
    d4  vcvtps2pd ymm2, xmm0
        ; %4 = add f64 %1, %3
    d8  vaddpd ymm0, ymm1, ymm2
        ; %5 = cast f32 %4
    dc  vcvtpd2ps xmm1, ymm0
        ; store f32 $0 %5
    e0  vmovups xmmword ptr [r9 + 4*rsi], xmm1
        ; addresses
    e6  add rsi, 0x4
    ea  sub r8, 0x4
    ee  jae .L2
.L3:
    f0  add r8, 0x4
    f4  je .L7
        ; tail
    fa  mov r11d, 0x4
   100  cmp r8, r11
   103  cmovb r11, r8
        ; %0 = load u8 $1
   107  lea rax, [rbx + rsi]
   10b  lea rdx, [rsp + 0x40]
   110  xor ecx, ecx
   112  test r11d, 0x4
   119  je .L4
   11f  mov r10d, dword ptr [rax + rcx]
   123  mov dword ptr [rdx + rcx], r10d
   127  add rcx, 0x4
.L4:
   12b  test r11d, 0x2
   132  je .L5
   138  mov r10w, word ptr [rax + rcx]
   13d  mov word ptr [rdx + rcx], r10w
   142  add rcx, 0x2
.L5:
   146  test r11d, 0x1
   14d  je .L6
   153  mov r10b, byte ptr [rax + rcx]
   157  mov byte ptr [rdx + rcx], r10b
   15b  add rcx, 0x1
.L6:
   15f  vmovd xmm0, dword ptr [rsp + 0x40]
        ; %1 = cast f64 %0
   165  vpmovzxbd xmm2, xmm0
   16a  vcvtdq2pd ymm1, xmm2
        ; %2 = load f32 $2
   16e  lea rcx, [rip - 0x1b5]
   175  mov rdx, r11
   178  neg rdx
   17b  vmovups xmm2, xmmword ptr [rcx + 4*rdx + 0x20]
   181  vpmaskmovd xmm0, xmm2, xmmword ptr [rbp + 4*rsi]
        ; %3 = cast f64 %2
   188  vcvtps2pd ymm2, xmm0
        ; %4 = add f64 %1, %3
   18c  vaddpd ymm0, ymm1, ymm2
        ; %5 = cast f32 %4
   190  vcvtpd2ps xmm1, ymm0
        ; store f32 $0 %5
   194  lea rcx, [rip - 0x1db]
   19b  mov rdx, r11
   19e  neg rdx
   1a1  vmovups xmm0, xmmword ptr [rcx + 4*rdx + 0x20]
   1a7  vpmaskmovd xmmword ptr [r9 + 4*rsi], xmm0, xmm1
.L7:
        ; return
   1ad  vzeroupper
   1b0  mov rsp, qword ptr [rsp]
   1b4  pop rbp
   1b5  pop rbx
   1b6  ret
