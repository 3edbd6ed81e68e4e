#!/usr/bin/env bash
# Measures with weft_bench and writes bench/results/NAME.json and NAME.md.
#   tools/bench.sh quick [NAME]   27 short repetitions, every workload at one size: within five minutes on two cores
#   tools/bench.sh readme         15 repetitions, the rows of README.md's table: about two minutes
#   tools/bench.sh full [NAME]    15 repetitions, all sizes: the better part of an hour
#   tools/bench.sh targets [NAME] what bench/targets.py has targets for, and whether they are reached: some ten minutes
# Repetitions of all benchmarks are interleaved at random (on one pinned core), so that those of a row lie all over the run; of
# each row the faster ones count (fast_median() of bench/report.py).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mode=${1-quick}
name=${2-$mode}
case "$mode" in
  quick) options=(--quick --benchmark_repetitions=27 --benchmark_min_time=0.002) ;;
  readme) options=(--benchmark_repetitions=15 --benchmark_min_time=0.01 '--benchmark_filter=^(copy|add|fma|cast_f32_bf16|cast_u8_f32|normalize|bcast_nchw|conflict_add)/.*/(1e3|1e4|1e6|1x512x512x3|4x64x64x64)$|^call_|^first_call_xbyak') ;;
  full) options=(--benchmark_repetitions=15 --benchmark_min_time=0.05) ;;
  targets) ;;
  *) fail "usage: tools/bench.sh quick|readme|full|targets [NAME]" ;;
esac

"$root/tools/install-deps.sh" --bench
configure -DWEFT_BENCH=ON
build_targets weft_bench
mkdir -p "$root/bench/results"
json=$root/bench/results/$name.json
say "Measuring"
status=0
if [ "$mode" = targets ]; then
  WEFT_ISA=avx2 "$root/bench/targets.py" "$root/bench/results/$name-avx2.json" --measure "$build/bin/weft_bench" > /dev/null || status=$?
  "$root/bench/targets.py" "$json" --measure "$build/bin/weft_bench" --avx2 "$root/bench/results/$name-avx2.json" |
    tee "$root/bench/results/$name.md" || status=$?
  exit "$status"
fi
rm -f "$json"
"$build/bin/weft_bench" "${options[@]}" \
  --benchmark_enable_random_interleaving=true --benchmark_display_aggregates_only=true \
  --benchmark_out="$json" --benchmark_out_format=json || status=$?
[ -s "$json" ] || fail "weft_bench ended with $status and wrote no result"
"$root/bench/peers.py" "$json"
"$root/bench/report.py" "$json" --condense
"$root/bench/report.py" "$json" | tee "$root/bench/results/$name.md" || status=$?
exit "$status"
