#!/usr/bin/env bash
# Whether the library compiles for another processor: all of it but the xbyak backend and the LLVM module, checked
# with Debian's g++-aarch64-linux-gnu.  Nothing is linked: headers of other libraries are those of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
compiler=${CXX:-aarch64-linux-gnu-g++}
command -v "$compiler" > /dev/null || { echo "no $compiler: apt-get install g++-aarch64-linux-gnu"; exit 2; }

git ls-files 'runtime/*.cpp' 'ir/*.cpp' 'jit/*.cpp' 'engine/*.cpp' |
  grep -v -e '^jit/xbyak/' -e '^jit/llvm/' -e '/avx2.cpp$' -e '/avx512.cpp$' -e '/exact_avx' |
  xargs -P "$(nproc)" -I{} "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -ffp-contract=off \
    -DWEFT_VERSION='"0"' -Iengine/include -Iengine/fuzz/include -Iir/include -Iruntime/include -I. -idirafter /usr/include {}
echo "all files compile for aarch64"
