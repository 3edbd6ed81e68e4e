#!/usr/bin/env bash
# Installs what is missing, builds Release into build/, checks the format, runs all tests, and those of the IR and of the code
# generators again under ASan and UBSan.  Exit code 0 only if all is well.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/tools/install-deps.sh"
configure
build_targets

# run_tests FOLDER [CTEST_OPTION...].  A test that waits for ever fails by its name, before the 40 minutes for everything are over: the
# longest take one minute, six on two busy cores.  The presets, sanitizers among them, allow 90.
run_tests() {
  ctest --test-dir "$1" --output-on-failure --no-tests=error --timeout 1200 --parallel "$(num_jobs)" "${@:2}"
}

# A build for errors that results don't show: the sanitizers, and what a debug build checks after each pass.  The layers above
# and LLVM's module take three times as long to compile, and are left to the preset.
sanitized_tests() {
  local folder=$build/asan-short
  cmake -S "$root" --preset asan -B "$folder" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-g1 -DWEFT_LLVM=OFF \
    -DWEFT_EXAMPLES=OFF &&
    cmake --build "$folder" --parallel "$(num_jobs)" --target weft_tests_ir weft_tests_jit &&
    run_tests "$folder" --tests-regex '^(ir|jit|jit_2)$'
}

status=0
if command -v clang-format >/dev/null; then
  say "Checking the format"
  "$root/tools/format.sh" --check || status=1
fi
say "Running all tests"
run_tests "$build" || status=1
say "Running the tests of ir and jit under ASan and UBSan"
sanitized_tests || status=1

((status == 0)) || fail "something above failed"
