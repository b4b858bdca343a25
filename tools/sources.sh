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

# The commit that changes are counted from: FATHOM_BASE, or where this branch left the main line. On the main line itself it
# is the last merge before the last commit, of the 20 commits before that one; without a merge the last commit but one.
# Nothing where there is no such commit.
base_commit() {
  local base=${FATHOM_BASE:-}
  if [[ -z $base ]]; then base=$(git merge-base HEAD origin/main 2>/dev/null || true); fi
  if [[ -z $base || (-z ${FATHOM_BASE:-} && $base == $(git rev-parse HEAD 2>/dev/null)) ]]; then
    base=$(git rev-list --first-parent -n 20 --parents HEAD~1 2>/dev/null | awk 'NF > 2 { print $1; exit }')
    base=${base:-HEAD~1}
  fi
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

# reader_of HEADER: a C++ file, no test, that includes it: the one of its name, or the first one, also by way of another header.
reader_of() {
  local name=${1#src/} way found
  if [[ -f ${1%.h}.cc ]] && grep -qF "\"$name\"" "${1%.h}.cc"; then
    echo "${1%.h}.cc"
    return
  fi
  for way in 1 2 3; do
    found=$(own_files 'src/*.cc' | { grep -vE '_(test|bench|fuzz)\.cc$|/testing/' || true; } | xargs -r grep -lF "\"$name\"" | head -1)
    if [[ -n $found ]]; then
      echo "$found"
      return
    fi
    name=$(own_files 'src/*.h' | xargs -r grep -lF "\"$name\"" | head -1)
    name=${name#src/}
    if [[ -z $name || $way == 3 ]]; then return; fi
  done
}

# The C++ files, less the tests, that changed, and one that includes each header that did.
changed_cxx_sources() {
  {
    changed_among '^src/.*\.cc$' | { grep -v '_test\.cc$' || true; }
    changed_among '^src/.*\.h$' | while read -r file; do reader_of "$file"; done
  } | sort -u
}

# The folders of src/ in which something changed.
changed_rooms() { { changed_files || true; } | sed -n 's|^src/\([^/]*\)/.*|\1|p' | sort -u; }
