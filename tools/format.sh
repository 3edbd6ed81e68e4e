#!/usr/bin/env bash
# Formats every C++ file of the project; with --check only says which ones differ, and fails if any does.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mode=(-i)
[[ ${1-} != --check ]] || mode=(--dry-run --Werror)
cd "$root"
find runtime ir jit engine tests bench examples \( -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 -r clang-format "${mode[@]}"
