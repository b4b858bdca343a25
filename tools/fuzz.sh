#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every *_fuzz program of the fuzz preset for some seconds, from the corpus in tests/fuzz/corpus/<name> where
# there is one. A finding is left as build-fuzz/found/<name>-*. Ends with `N passed, N failed`.
# usage: tools/fuzz.sh [SECONDS]   (default 20)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

seconds=${1:-20}
passed=0 failed=0

fuzz_one() {
  local program=$1 name corpus
  name=$(basename "$program" _fuzz)
  mkdir -p "build-fuzz/corpus/$name" build-fuzz/found
  local -a folders=("build-fuzz/corpus/$name")
  corpus=tests/fuzz/corpus/$name
  if [[ -d $corpus ]]; then folders+=("$corpus"); fi
  echo "== fuzz: $name for $seconds s"
  if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build-fuzz/found/$name-" "${folders[@]}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "fuzz: $name FAILED; the input is build-fuzz/found/$name-*"
  fi
}

main() {
  local program
  tools/setup.sh || exit
  cmake --preset fuzz >/dev/null && cmake --build --preset fuzz || exit 1
  for program in build-fuzz/fuzz/*_fuzz; do
    if [[ -x $program ]]; then fuzz_one "$program"; fi
  done
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

main
