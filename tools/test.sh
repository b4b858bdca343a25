#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Build, lint, unit tests, end-to-end tests; the last line counts them all.
# usage: tools/test.sh [--full] [ARGUMENT of tests/run...]
#   --full: clang-tidy on every file, unit tests under ASan+UBSan and TSan, the other architecture, and all fuzzers, not
#   those of touched rooms alone, and for longer
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

full=
if [[ ${1:-} == --full ]]; then
  full=--full
  export FATHOM_FULL=1  # tests that are small in CI read it
  shift
fi
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# counted NAME COMMAND...: shows the output, and keeps it for the tally.
counted() {
  local name=$1
  shift
  printf '== %s: %s\n' "$name" "$*"
  "$@" 2>&1 | tee "$results/$name.log"
  echo "${PIPESTATUS[0]}" >"$results/$name.status"
}

# The programs say what they found in the build's folder, each part in a file of its own (cmake/fathom.cmake).
unit_tests() {
  local preset=$1 told=build-$1/test/results
  if [[ $preset == release ]]; then told=build/test/results; fi
  rm -rf "$told"
  counted "unit-$preset" ctest --preset "$preset" -j "$(nproc)" --output-junit "$results/unit-$preset.junit"
  cp -r "$told" "$results/unit-$preset"
}

sanitized() {
  local preset
  for preset in asan tsan; do
    cmake --preset "$preset" >/dev/null && cmake --build --preset "$preset" || return
    unit_tests "$preset"
  done
}

main() {
  ./dev build || exit 1
  tools/setup.sh --tests
  counted lint tools/lint.sh $full
  unit_tests release
  if [[ -n $full ]]; then
    counted build-sanitized sanitized
    counted cross tools/cross.sh
  fi
  if [[ -n $full ]]; then counted fuzz tools/fuzz.sh 20; else counted fuzz tools/fuzz.sh --repeatable --touched 2; fi
  if [[ -x tests/run ]]; then counted end-to-end tests/run ${full:+"$full"} "$@"; fi
  python3 tools/tally.py "$results"
}

main "$@"
