# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Lists of the repository's own files, new ones too; sourced by the other scripts.

own_files() {
  local file
  git ls-files -co --exclude-standard -- "$@" | sort -u | while read -r file; do
    if [[ -f $file ]]; then echo "$file"; fi
  done
}

cxx_files() {
  own_files 'src/*.cc' 'src/*.h' 'src/*.c' 'include/*.h' 'include/*.hpp' \
    'tests/*.c' 'tests/*.cc' 'tests/*.h' 'bench/*.c' 'bench/*.cc' 'bench/*.h' 'demo/*.c' 'demo/*.cc'
}

python_files() {
  own_files '*.py'
  with_shebang python
}

shell_files() {
  own_files '*.sh'
  with_shebang sh
}

# with_shebang WORD: files without a suffix whose first line names that interpreter.
with_shebang() {
  local file line
  own_files dev .ci tools tests demo bench | while read -r file; do
    if [[ $(basename "$file") == *.* ]]; then continue; fi
    IFS= read -r line <"$file" 2>/dev/null || continue
    if [[ $line =~ ^#!.*[/\ a-z]?$1[0-9.]*$ ]]; then echo "$file"; fi
  done
}

# The C++ files, less the tests, that differ from the main line, or else from the last commit, or that are new.
changed_cxx_sources() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [[ -z $base || $base == $(git rev-parse HEAD) ]]; then
    base=$(git rev-parse -q --verify HEAD~1 || git rev-parse HEAD)
  fi
  { git diff --name-only --diff-filter=d "$base" && git ls-files -o --exclude-standard; } |
    { grep -E '^src/.*\.cc$' || true; } | { grep -v '_test\.cc$' || true; } | sort -u
}
