#!/usr/bin/env bash
# usage: tools/valgrind.sh [PROGRAM FILTER]   a sample of the tests under valgrind: what is read before it is written, which no sanitizer
# of GCC's sees, and what generated code reads and writes outside of blocks, which none sees.  Takes minutes; exit code 77 where there is
# no valgrind.  PROGRAM is runtime, ir or engine, FILTER what --gtest_filter takes.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v valgrind >/dev/null || { echo "no valgrind: apt-get install valgrind"; exit 77; }
(($# == 0 || $# == 2)) || fail "usage: tools/valgrind.sh [PROGRAM FILTER]"
cd "$root"
[[ -d $build ]] || configure
build_targets weft_tests_runtime weft_tests_ir weft_tests_engine

# What computes on small tensors; not what starts many threads or processes, or tries all values of a dtype.  Left out of ir:
# signs of zero, which valgrind's arithmetic of long double loses.
declare -A samples=(
  [runtime]='CpuFeatures.*:DType.*:Device.*:DiskCaches.A*:ExecMemory.*:HashBytes.*:Log.*:PromoteTypes.*:Scalar.*:Tunings.A*'
  [ir]='*Golden.*:Pointwise.*:Verifier.*:VectorMath.*:Pass.PipelineLeaves*:Evaluate.NextAfter*:Evaluate.SmallFloats:Text.HashTells*-Pointwise.ActivationsAtTheEnds'
  [engine]='CallSpelling.*:Chain.*:Dlpack*:engine_chain.*:engine_copy.*:engine_prepare.*'
)
if (($# == 2)); then
  [[ -v samples[$1] ]] || fail "the programs are ${!samples[*]}"
  samples=([$1]=$2)
fi

# valgrind knows no AVX-512.  Code is written through another mapping than it runs in, and its memory is used again: every block is
# compared before it runs.
status=0
for program in "${!samples[@]}"; do
  say "weft_tests_$program under valgrind"
  WEFT_ISA=avx2 WEFT_CACHE=off WEFT_TUNE=off valgrind --quiet --smc-check=all --error-exitcode=9 --suppressions=tools/valgrind.supp \
    "$build/bin/weft_tests_$program" --gtest_filter="${samples[$program]}" --gtest_brief=1 || status=1
done
((status == 0)) || fail "something above failed"
