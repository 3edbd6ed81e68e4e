#!/usr/bin/env bash
# Installs what is missing, builds Release into build/, checks the format and runs all tests.  Exit code 0 only if all is well.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/tools/install-deps.sh"
configure
build_targets

status=0
if command -v clang-format >/dev/null; then
  say "Checking the format"
  "$root/tools/format.sh" --check || status=1
fi
say "Running all tests"
ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(num_jobs)" || status=1

((status == 0)) || fail "something above failed"
