#!/usr/bin/env bash
# Measures with weft_bench and writes bench/results/NAME.json and NAME.md.
#   tools/bench.sh quick [NAME]   3 repetitions, every workload at one size: within five minutes on two cores
#   tools/bench.sh readme         5 repetitions, the rows of README.md's table: about two minutes
#   tools/bench.sh full [NAME]    9 repetitions, all sizes: the better part of an hour
# Repetitions of all benchmarks are interleaved at random (on one pinned core), so that a slow moment of a shared machine
# hits all variants alike; compare medians inside one run only.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mode=${1-quick}
name=${2-$mode}
case "$mode" in
  quick) options=(--quick --benchmark_repetitions=3 --benchmark_min_time=0.02) ;;
  readme) options=(--benchmark_repetitions=5 --benchmark_min_time=0.02 '--benchmark_filter=^(copy|add|fma|cast_f32_bf16|cast_u8_f32|normalize|bcast_nchw|conflict_add)/.*/(1e3|1e4|1e6|1x512x512x3|4x64x64x64)$|^call_|^first_call_xbyak') ;;
  full) options=(--benchmark_repetitions=9 --benchmark_min_time=0.1) ;;
  *) fail "usage: tools/bench.sh quick|readme|full [NAME]" ;;
esac

"$root/tools/install-deps.sh" --bench
configure -DWEFT_BENCH=ON
build_targets
mkdir -p "$root/bench/results"
json=$root/bench/results/$name.json
say "Measuring"
"$build/bin/weft_bench" "${options[@]}" \
  --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true \
  --benchmark_out="$json" --benchmark_out_format=json
"$root/bench/report.py" "$json" | tee "$root/bench/results/$name.md"
