#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Everything that reads the code without running it. Ends with `N passed, N failed[, N skipped]`.
# usage: tools/lint.sh [--full]   --full: clang-tidy reads every file, not only the changed ones
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
. tools/sources.sh

passed=0 failed=0 skipped=0

# check NAME COMMAND...: runs it; status 77 means that it could not be done here, for the reason that it printed.
check() {
  local name=$1 output status
  shift
  output=$("$@" 2>&1)
  status=$?
  case $status in
    0) passed=$((passed + 1)) && echo "lint: $name ok" ;;
    77) skipped=$((skipped + 1)) && echo "lint: $name skipped: $output" ;;
    *) failed=$((failed + 1)) && printf '%s\nlint: %s FAILED\n' "$output" "$name" ;;
  esac
}

need() {
  command -v "$1" >/dev/null || {
    echo "$1 is missing; ./dev setup installs it"
    return 77
  }
}

check_tools() { python3 -m unittest discover -s tools -p '*_test.py'; }

check_guest() {
  if [[ ! -f build/libfathom.so ]]; then
    echo "there is no build/libfathom.so; ./dev build makes it"
    return 77
  fi
  tools/check_guest.py
}

# A library's file is linked when somebody needs it: two of them with one function go unnoticed until one program needs both.
check_definitions() {
  local twice
  need nm || return
  if [[ ! -f build/fathom ]]; then
    echo "there is no build/fathom; ./dev build makes it"
    return 77
  fi
  twice=$(nm -g --defined-only build/src/*/lib*.a 2>/dev/null | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sort | uniq -d | c++filt)
  if [[ -n $twice ]]; then
    printf 'is defined twice: %s\n' "$twice"
    return 1
  fi
}

check_shell() {
  local -a files
  need shellcheck || return
  mapfile -t files < <(shell_files)
  shellcheck -x "${files[@]}"
}

check_python() {
  local ruff=.cache/venv/bin/ruff
  local -a files
  if [[ ! -x $ruff ]]; then need ruff && ruff=ruff || return; fi
  mapfile -t files < <(python_files)
  "$ruff" check -q "${files[@]}" && "$ruff" format -q --check --diff "${files[@]}"
}

check_format() {
  local -a files
  need clang-format || return
  mapfile -t files < <(cxx_files)
  if ((${#files[@]} == 0)); then return 0; fi
  clang-format --dry-run --Werror "${files[@]}" 2>&1 | sed -n 's/:.*clang-format-violations.*/: not formatted; .\/dev format does it/p' |
    sort -u | { ! grep .; }
}

tidy_each() { xargs -r -n 1 -P "$(nproc)" clang-tidy --quiet -p build/tidy "$@"; }

# The flags of the build, for each file alone, but for one that gcc alone knows.
write_tidy_flags() {
  mkdir -p build/tidy && tools/units.py --commands build | sed 's/ -fno-reorder-functions / /' >build/tidy/compile_commands.json
}

# Only files that the release build compiles have flags to be read with. Files of C are left out: all that these checks find in
# them is that they are not C++ (their globals, their names).
check_tidy() {
  local -a files
  need clang-tidy || return
  if [[ ! -f build/compile_commands.json ]]; then
    echo "there is no build/compile_commands.json; ./dev build makes it"
    return 77
  fi
  write_tidy_flags || return
  mapfile -t files < <("$1" | while read -r file; do
    if grep -qF "/$file\"" build/tidy/compile_commands.json; then echo "$file"; fi
  done)
  if ((${#files[@]} == 0)); then return 0; fi
  printf '%s\n' "${files[@]}" | { grep -v '\.guest\.cc$' || true; } | tidy_each &&
    printf '%s\n' "${files[@]}" | { grep '\.guest\.cc$' || true; } | tidy_each --config-file=src/guest/.clang-tidy
}

all_cxx_sources() { own_files 'src/*.cc'; }

main() {
  local tidy_files=changed_cxx_sources
  if [[ ${1:-} == --full ]]; then tidy_files=all_cxx_sources; fi
  check "layers" tools/check_layers.py
  check "layer names" tools/check_layer_names.py
  check "door" tools/check_door.py
  check "types" tools/check_types.py
  check "definitions" check_definitions
  check "guest symbols" check_guest
  check "file budgets" tools/check_files.py
  check "tools" check_tools
  check "shellcheck" check_shell
  check "ruff" check_python
  check "clang-format" check_format
  check "page" tools/check_web.py
  check "clang-tidy" check_tidy "$tidy_files"
  printf '%d passed, %d failed' "$passed" "$failed"
  if ((skipped > 0)); then printf ', %d skipped' "$skipped"; fi
  printf '\n'
  ((failed == 0))
}

main "$@"
