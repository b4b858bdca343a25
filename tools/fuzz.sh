#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every *_fuzz program of the fuzz preset for some seconds, from the seeds in tests/fuzz/corpus/<name> and what
# earlier runs found worth keeping (build-fuzz/corpus/<name>). A finding is left as build-fuzz/found/<name>-*.
# Ends with `N passed, N failed`, or with `1 skipped` where there is no clang.
# usage: tools/fuzz.sh [--repeatable] [SECONDS]   (default 20)
#   --repeatable: from the seeds alone and with the same dice every time, so that a commit is judged alike on each run
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

repeatable=
if [[ ${1:-} == --repeatable ]]; then
  repeatable=yes
  shift
fi
seconds=${1:-20}
passed=0 failed=0

fuzz_one() {
  local program=$1 name seeds log
  name=$(basename "$program" _fuzz)
  seeds=tests/fuzz/corpus/$name
  log=build-fuzz/found/$name.log
  local kept=build-fuzz/corpus/$name
  local -a dice=()
  if [[ -n $repeatable ]]; then
    kept=$TMPDIR/corpus/$name
    dice=(-seed=1)
  fi
  mkdir -p "$kept" build-fuzz/found
  local -a folders=("$kept")
  if [[ -d $seeds ]]; then folders+=("$seeds"); fi
  # Entropic schedules look at every feature of every input, which costs more than the small ones do.
  if "$program" "${dice[@]}" -entropic=0 -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -print_funcs=0 \
    -artifact_prefix="build-fuzz/found/$name-" "${folders[@]}" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "fuzz: $name ok, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs in $seconds s"
  else
    failed=$((failed + 1))
    grep -avE 'NEW|REDUCE|pulse|^INFO' "$log" | head -40
    echo "fuzz: $name FAILED; the input is build-fuzz/found/$name-*"
  fi
}

main() {
  local program
  if ! command -v clang++ >/dev/null; then
    echo "fuzz: skipped: clang++ is missing; ./dev setup installs it"
    echo "0 passed, 0 failed, 1 skipped"
    return
  fi
  tools/setup.sh || exit
  cmake --preset fuzz >/dev/null && cmake --build --preset fuzz --target fuzzers || exit 1
  # Targets that make files are quicker in memory.
  TMPDIR=$(mktemp -d -p "$(if [[ -w /dev/shm ]]; then echo /dev/shm; else echo "${TMPDIR:-/tmp}"; fi)" fathom-fuzz-XXXXXX)
  export TMPDIR
  # Memory that was freed is kept from being used again for a while, not for 256 MiB: pages are dear.
  export ASAN_OPTIONS=malloc_context_size=8:quarantine_size_mb=4:thread_local_quarantine_size_kb=64${ASAN_OPTIONS:+:$ASAN_OPTIONS}
  trap 'rm -rf "$TMPDIR"' EXIT
  for program in build-fuzz/fuzz/*_fuzz; do
    if [[ -x $program ]]; then fuzz_one "$program"; fi
  done
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

main
