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
    if [[ $line =~ ^#!.*[/\ a-z]?$1[0-9.]*(\ -B)?$ ]]; then echo "$file"; fi
  done
}

# The commit that changes are counted from: FATHOM_BASE, or where this branch left the main line, or the last commit but
# one. Nothing where there is no such commit.
base_commit() {
  local base=${FATHOM_BASE:-}
  if [[ -z $base ]]; then base=$(git merge-base HEAD origin/main 2>/dev/null || true); fi
  if [[ -z $base || (-z ${FATHOM_BASE:-} && $base == $(git rev-parse HEAD 2>/dev/null)) ]]; then base=HEAD~1; fi
  git rev-parse -q --verify "$base^{commit}" || true
}

# Files that differ from the base, also those that are gone, and new ones that git does not know yet. Status 1 where
# nothing can be told.
changed_files() {
  local base
  base=$(base_commit)
  if [[ -z $base ]]; then return 1; fi
  { git diff --name-only --no-renames "$base" && git ls-files -o --exclude-standard; } | sort -u
}

# changed_among PATTERN: those that are there and match.
changed_among() {
  local file
  { changed_files || true; } | { grep -E "$1" || true; } | while read -r file; do
    if [[ -f $file ]]; then echo "$file"; fi
  done
}

# The C++ files, less the tests, that changed.
changed_cxx_sources() { changed_among '^src/.*\.cc$' | { grep -v '_test\.cc$' || true; }; }

# The folders of src/ in which something changed.
changed_rooms() { { changed_files || true; } | sed -n 's|^src/\([^/]*\)/.*|\1|p' | sort -u; }
