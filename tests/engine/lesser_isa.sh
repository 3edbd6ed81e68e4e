#!/bin/sh
# lesser_isa.sh PROGRAM [ARGUMENT...]: runs a program for WEFT_ISA=avx2, where the machine has more than that by itself.
if ! grep -qw avx512f /proc/cpuinfo; then
  echo "Skipped: this machine has no AVX-512, and its tests without WEFT_ISA=avx2 are these."
  exit 0
fi
WEFT_ISA=avx2 exec "$@"
