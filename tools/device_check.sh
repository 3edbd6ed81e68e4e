#!/usr/bin/env bash
# Everything that takes a CUDA device, in one command: tests of streams, graphs, memory and copies, conformance and fuzz of the CUDA backend
# against the interpreter, compute-sanitizer on a sample where it is installed, benchmarks beside memcpy and (where Python has them) PyTorch,
# torch.compile and CuPy.  Within ten minutes on 8 or more processors; fewer replay fewer of the recorded cases.
#   tools/device_check.sh [--quick] [RESULT.json]      from a source tree that is built, or from a bundle (tools/device_bundle.sh)
# Exit code 0 only if all is well.  Where there is no device it says so and checks nothing: exit code 77.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ -x $here/bin/weft ]]; then  # a bundle
  root=$here bin=$here/bin bench=$here recordings=$here/conformance
else
  root=$(cd "$here/.." && pwd)
  bin=${WEFT_BUILD:-$root/build}/bin bench=$root/bench recordings=$root/../shared/conformance
  [[ -d $recordings ]] || recordings=$root/tests/conformance/data
fi
quick=()
fuzz_s=20 peers_s=200
if [[ ${1-} == --quick ]]; then
  quick=(--quick) fuzz_s=3
  shift
fi
result=${1-$root/device_check.json}
[[ $result == /* ]] || result=$PWD/$result
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n==> %s\n' "$*"; }
for program in weft weft_conformance weft_cuda_bench weft_tests_device; do
  [[ -x $bin/$program ]] || { echo "error: no $bin/$program; build it first" >&2; exit 1; }
done

status=0
# check NAME COMMAND...: runs it, its output to NAME.log too, and remembers how it ended and how long it took.
check() {
  local name=$1 start=$SECONDS verdict=passed
  shift
  say "$name: $*"
  "$@" 2>&1 | tee "$work/$name.log" || { verdict=failed status=1; }
  printf '%s "%s": {"verdict": "%s", "seconds": %d}' "$([[ -s $work/checks ]] && echo ,)" "$name" "$verdict" \
    $((SECONDS - start)) >>"$work/checks"
}

"$bin/weft" info || exit 1
reason=$("$bin/weft_cuda_bench" --quick --only none 2>&1 >/dev/null)
case $? in
  0) ;;
  2)
    printf '\n*** SKIPPED: nothing was checked on a device. ***\n%s\n' "$reason" >&2
    exit 77
    ;;
  *) printf '\nerror: the device does not work: %s\n' "$reason" >&2; exit 1 ;;
esac

# Most cases compile a kernel of their own: as many at a time as there are processors, which the device is shared by.
files=(values reduce copy overlap binary_layout promotion layout)
jobs=$(nproc)
((jobs > 16)) && jobs=16
stride=$((jobs > 8 ? jobs : 8))                       # each job replays every so many cases: all of them from 8 processors on
((${#quick[@]} == 0)) || stride=$((97 * jobs))
replay() {  # replay JOB: its share of the recordings
  local failed=0 found=0 file
  mkdir -p "$work/conformance/$1"
  for file in "${files[@]}"; do
    [[ -f $recordings/$file.jsonl ]] || continue
    found=1
    awk -v job="$1" -v stride="$stride" 'NR % stride == 97 * job % stride' "$recordings/$file.jsonl" >"$work/conformance/$1/$file.jsonl"
    [[ -s $work/conformance/$1/$file.jsonl ]] || continue
    timeout 200 "$bin/weft_conformance" "$work/conformance/$1" --backend=nvrtc --only="$file" || failed=1
  done
  ((found == 1)) || { echo "error: no recordings in $recordings"; failed=1; }
  return $failed
}
# in_parallel NAME FUNCTION: calls it with 0, 1, ... at the same time, prints what they said one after the other, and fails if one does.
in_parallel() {
  local failed=0 job pids=()
  trap 'kill "${pids[@]}" 2>/dev/null; exit 130' INT TERM  # jobs in the background would go on
  for ((job = 0; job < jobs; ++job)); do
    "$2" "$job" >"$work/$1.$job" 2>&1 &
    pids+=($!)
  done
  for ((job = 0; job < jobs; ++job)); do
    wait "${pids[$job]}" || failed=1
    cat "$work/$1.$job"
  done
  return $failed
}
fuzz() { timeout $((fuzz_s + 60)) "$bin/weft" fuzz --backend=nvrtc --seconds="$fuzz_s" --seed=$((1 + $1)); }
export WEFT_CACHE_DIR=$work/cache
check tests timeout 120 "$bin/weft_tests_device" --gtest_brief=1
check conformance in_parallel conformance replay
check fuzz in_parallel fuzz fuzz

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [[ -n $sanitizer ]]; then
  sanitize() {  # sanitize TOOL [OPTION...]
    timeout 60 "$sanitizer" --target-processes all --tool="$1" --error-exitcode=1 "$bin/weft_cuda_bench" --quick "${@:2}"
  }
  check sanitizer_memcheck sanitize memcheck
  check sanitizer_racecheck sanitize racecheck --only transpose
else
  say "compute-sanitizer is not installed: left out"
fi

export WEFT_CACHE_DIR=$work/new_cache  # first calls are what they cost without one
check benchmark timeout 180 "$bin/weft_cuda_bench" "${quick[@]}" --json "$work/benchmark.json"
if command -v python3 >/dev/null && [[ -s $work/benchmark.json ]]; then
  check peers timeout $((peers_s + 60)) python3 "$bench/cuda_peers.py" "$work/benchmark.json" --seconds "$peers_s"
fi

{
  printf '{"date": "%s",\n"driver": "%s",\n"checks": {%s},\n"benchmark": ' "$(date -u +%FT%TZ)" \
    "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -1)" "$(cat "$work/checks")"
  if [[ -s $work/benchmark.json ]]; then cat "$work/benchmark.json"; else echo null; fi
  echo '}'
} >"$result"
say "Written to $result"
((status == 0)) || { echo "error: something above failed" >&2; exit 1; }
