# shellcheck shell=bash
# What the scripts of this folder share: where the project is, how to talk, how many jobs fit.  Sourced, not run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build

say() { printf '\n==> %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# One job a core, but no more than the memory feeds: the largest translation units (LLVM's and libtorch's headers) need 1.5 GB.
num_jobs() {
  local cores memory_mb fitting
  cores=$(nproc)
  memory_mb=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo)
  fitting=$((memory_mb / 1500))
  ((fitting >= 1)) || fitting=1
  echo $((cores < fitting ? cores : fitting))
}

# configure [CMAKE_OPTION...]: Release in build/.
configure() {
  say "Configuring Release in build/"
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@"
}

# build_targets [TARGET...]: these, or everything.
build_targets() {
  say "Building with $(num_jobs) jobs"
  cmake --build "$build" --parallel "$(num_jobs)" --target "${@:-all}"
}
