#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What to run while you work: layers, the layout of changed files, unit tests of some rooms, exact outputs; where web/
# changed, the page's types and logic. Less than a minute where little has to be compiled. Ends with `N passed, N failed`.
# usage: tools/quick.sh [ROOM...]   folders of src/; without any, those in which something changed (tools/sources.sh)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
. tools/sources.sh

passed=0 failed=0

# step NAME COMMAND...: runs it and counts it.
step() {
  local name=$1 begin=$SECONDS
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "quick: $name ok, $((SECONDS - begin)) s"
  else
    failed=$((failed + 1))
    echo "quick: $name FAILED"
  fi
}

check_format() {
  local -a files
  mapfile -t files < <(changed_among '^(src|include|tests|bench|demo)/.*\.(c|cc|h|hpp)$')
  if ((${#files[@]} == 0)); then return 0; fi
  clang-format --dry-run --Werror "${files[@]}"
}

# A room without tests (wire) is tested by those that use it.
rooms_with_tests() {
  local room
  for room in "$@"; do
    if [[ ! -d src/$room ]]; then
      echo "quick: there is no src/$room" >&2
      return 2
    fi
    if [[ -n $(own_files "src/$room/*_test.cc") ]]; then echo "$room"; fi
  done
}

unit_tests() {
  local labels
  labels=$(printf '|%s' "$@")
  ctest --preset release -j "$(nproc)" -L "^(${labels:1})\$" | tail -n 25
  return "${PIPESTATUS[0]}"
}

main() {
  local -a rooms=("${@%%/*}")
  if (($# == 0)); then mapfile -t rooms < <(changed_rooms); fi
  local tested
  tested=$(rooms_with_tests "${rooms[@]}") || exit
  mapfile -t rooms < <(printf '%s' "${tested:+$tested$'\n'}")
  echo "== quick: ${rooms[*]:-no room with tests}"
  step "layers" tools/check_layers.py
  step "clang-format" check_format
  step "build" ./dev build fathom fathom_guest "${rooms[@]/%/_test}"
  if ((failed == 0 && ${#rooms[@]} > 0)); then step "unit tests" unit_tests "${rooms[@]}"; fi
  if ((failed == 0)); then step "exact outputs" tests/golden/run --failures; fi
  if [[ -n $(changed_among '^web/') ]]; then
    step "page, read" tools/check_web.py
    step "page, logic" tests/page/run --logic
  fi
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

main "$@"
