#!/usr/bin/env bash
# shuffled.sh [ARGUMENT...]: runs the tests once for each seed, each time with the files in another order
# (tests/shuffle.py), all runs even if one fails, and reports each. The arguments are pytest's.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
seeds=(1 2 3 5 8 13 21 34 55 89)

code=0
results=()
trap 'exit 130' INT
for seed in "${seeds[@]}"; do
  echo "── seed $seed"
  start=$SECONDS result=ok
  make test ARGS="--shuffle-files=$seed ${*@Q}" || { code=1 result=FAILED; }
  results+=("$(printf 'seed %-4d %s (%d s)' "$seed" "$result" $((SECONDS - start)))")
done
printf '%s\n' "── results" "${results[@]}"
exit "$code"
