#!/usr/bin/env bash
# usage: tools/soak.sh [SECONDS [PRESET]]   calls of all kinds by many threads for a long time (1800 s): every result right, and
# no growth of memory above 1 % after the first third.  With a sanitizer's preset its own memory may grow.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=${1:-1800}
preset=${2:-release}
cd "$root"
cmake --preset "$preset" >/dev/null
folder=$build most_percent=1
[[ $preset == release ]] || folder=$build/$preset most_percent=50
cmake --build "$folder" --parallel "$(num_jobs)" --target weft_soak
say "Soaking for $seconds s"
exec env WEFT_CACHE=off "$folder/bin/weft_soak" "$seconds" "$most_percent"
