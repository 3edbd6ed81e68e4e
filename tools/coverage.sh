#!/usr/bin/env bash
# usage: tools/coverage.sh [CTEST_ARGUMENT...]   builds the tests with gcov's counters in build/coverage, runs them (without
# arguments those of the four layers), and says how many lines of each layer were run.  Exit code 1 below 90 %.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

folder=$build/coverage
tests='^(runtime|ir|jit|llvm_module|nvrtc|engine|fold|cuda|tune|fuzz|c_api|fork|no_jit|faults|security|concurrency|explain.*|conformance.*|cli_.*)$'
(($#)) || set -- -R "$tests"
say "Building with counters"
cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DWEFT_BENCH=OFF -DWEFT_EXAMPLES=OFF \
  -DCMAKE_CXX_FLAGS="--coverage -O1 -fprofile-update=atomic" -DCMAKE_EXE_LINKER_FLAGS=--coverage >/dev/null
cmake --build "$folder" --parallel "$(num_jobs)"
find "$folder" -name '*.gcda' -delete
say "Running tests"
ctest --test-dir "$folder" --output-on-failure --parallel "$(num_jobs)" "$@"
say "Counting lines"
python3 "$root/tools/coverage.py" "$root" "$folder"
