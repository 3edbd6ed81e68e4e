#!/usr/bin/env bash
# Packs what tools/device_check.sh needs into one archive, for a machine with a GPU that reaches no package registry:
#   tools/device_bundle.sh [ARCHIVE.tar.xz]     weft_device_check.tar.xz if not given
# Programs of build/ without LLVM, the libraries that they are linked with but for those of glibc (2.36 or later is needed there), and the
# recordings.  There: tar xf ARCHIVE && weft_device_check/device_check.sh RESULT.json
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

archive=${1-$root/weft_device_check.tar.xz}
max_bytes=$((40 << 20))
cmake --build "$build" --parallel "$(num_jobs)" --target weft_cli weft_conformance weft_cuda_bench weft_tests_device

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/weft_device_check
mkdir -p "$bundle"/{bin,lib,programs,conformance}
for program in weft weft_conformance weft_cuda_bench weft_tests_device; do
  strip -o "$bundle/programs/$program" "$build/bin/$program"
  # Their libraries lie beside them, and nothing else of that folder is wanted by other programs.
  cat >"$bundle/bin/$program" <<'WRAPPER'
#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/programs/$(basename "$0")" "$@"
WRAPPER
  chmod +x "$bundle/bin/$program"
  ldd "$build/bin/$program" | awk '/=> \// {print $3}' |
    grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
    xargs -r -I{} cp -L {} "$bundle/lib/"
done
for file in binary_layout promotion overlap values copy layout reduce; do
  source=$root/../shared/conformance/$file.jsonl
  [[ -f $source ]] || source=$root/tests/conformance/data/$file.jsonl
  cp "$source" "$bundle/conformance/"
done
cp "$root/tools/device_check.sh" "$root/bench/cuda_peers.py" "$bundle/"

tar -C "$work" -cJf "$archive" weft_device_check
size_bytes=$(stat -c %s "$archive")
((size_bytes < max_bytes)) || fail "$archive has $size_bytes bytes; expected less than $max_bytes"
say "$archive: $size_bytes bytes"
