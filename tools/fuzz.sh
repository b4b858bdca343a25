#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every *_fuzz program of the fuzz preset for some seconds, two at a time where there are two cores, from the seeds in tests/fuzz/corpus/<name> and what
# earlier runs found worth keeping (build-fuzz/corpus/<name>). A finding is left as build-fuzz/found/<name>-*.
# Ends with `N passed, N failed`, or with `1 skipped` where there is no clang.
# usage: tools/fuzz.sh [--list] [--repeatable] [--touched] [SECONDS]   (default 20)
#   --list: print the names of the programs that would run, and run none
#   --repeatable: from the seeds alone and with the same dice every time, so that a commit is judged alike on each run
#   --touched: only programs of rooms in which a file changed (tools/sources.sh says since when; FATHOM_BASE names another
#   commit), and those whose seeds changed. All of them where base/ or wire/ changed, which are in every program, or the
#   build, or where nothing can be told.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
. tools/sources.sh

list='' repeatable='' touched=''
while [[ ${1:-} == --* ]]; do
  case $1 in
    --list) list=yes ;;
    --repeatable) repeatable=yes ;;
    --touched) touched=yes ;;
    *) echo "fuzz: unknown option '$1'" >&2 && exit 2 ;;
  esac
  shift
done
seconds=${1:-20}

names_of() { own_files "$1" | sed 's|.*/||; s|\.cc$||' | sort -u; }

# touched_programs: names of fuzz programs, one a line.
touched_programs() {
  local changed room
  if ! changed=$(changed_files) || grep -qE '^(src/(base|wire)/|cmake/|CMake|tools/fuzz\.sh)' <<<"$changed"; then
    names_of 'src/*_fuzz.cc'
    return
  fi
  {
    changed_rooms | while read -r room; do names_of "src/$room/*_fuzz.cc"; done
    sed -n 's|^tests/fuzz/corpus/\([^/]*\)/.*|\1_fuzz|p' <<<"$changed"
  } | sort -u | comm -12 - <(names_of 'src/*_fuzz.cc')
}

# fuzz_one NAME_fuzz: what it found is said in one piece; one that found nothing leaves a file among those that passed.
fuzz_one() {
  local program=build-fuzz/fuzz/$1 name=${1%_fuzz} seeds log said
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
    touch "$TMPDIR/passed/$name"
    said="fuzz: $name ok, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs in $seconds s"
  else
    said=$(grep -avE 'NEW|REDUCE|pulse|^INFO' "$log" | head -40)
    said+=$'\n'"fuzz: $name FAILED; the input is build-fuzz/found/$name-*"
  fi
  printf '%s\n' "$said"
}

# fuzz_all NAME_fuzz...: one core for each, so that none has fewer runs than alone. Those that xargs starts end by ^C.
fuzz_all() {
  local side_by_side=2
  if (($(nproc) < 2)); then side_by_side=1; fi
  mkdir "$TMPDIR/passed"
  export -f fuzz_one
  export seconds repeatable
  # shellcheck disable=SC2016  # the inner shell's own argument
  printf '%s\n' "$@" | xargs -n 1 -P "$side_by_side" bash -c 'fuzz_one "$1"' fuzz_one
}

main() {
  local passed failed
  local -a programs
  mapfile -t programs < <(if [[ -n $touched ]]; then touched_programs; else names_of 'src/*_fuzz.cc'; fi)
  if [[ -n $list ]]; then
    printf '%s\n' "${programs[@]}"
    return
  fi
  if [[ ${#programs[@]} == 0 ]]; then
    echo "fuzz: no room with fuzz programs was touched; ./dev fuzz runs them all"
    echo "0 passed, 0 failed"
    return
  fi
  if ! command -v clang++ >/dev/null; then
    echo "fuzz: skipped: clang++ is missing; ./dev setup installs it"
    echo "0 passed, 0 failed, 1 skipped"
    return
  fi
  tools/setup.sh || exit
  cmake --preset fuzz >/dev/null && cmake --build --preset fuzz --target "${programs[@]}" || exit 1
  # Targets that make files are quicker in memory.
  TMPDIR=$(mktemp -d -p "$(if [[ -w /dev/shm ]]; then echo /dev/shm; else echo "${TMPDIR:-/tmp}"; fi)" fathom-fuzz-XXXXXX)
  export TMPDIR
  # Memory that was freed is kept from being used again for a while, not for 256 MiB: pages are dear.
  export ASAN_OPTIONS=malloc_context_size=8:quarantine_size_mb=4:thread_local_quarantine_size_kb=64${ASAN_OPTIONS:+:$ASAN_OPTIONS}
  trap 'rm -rf "$TMPDIR"' EXIT
  fuzz_all "${programs[@]}"
  passed=$(find "$TMPDIR/passed" -type f | wc -l)
  failed=$((${#programs[@]} - passed)) # also those that left no word
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

main
