#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what work on Fathom needs. Does nothing, quickly, when all of it is there.
# usage: tools/setup.sh [--build | --tests]
#   --build: only what a build needs; --tests: what only some tests use; where that cannot be had it is said
set -euo pipefail
cd "$(dirname "$0")/.."

package_lists=(tools/packages.txt tools/work_packages.txt)

# wanted: the names in the lists, one per line. npm counts as there however it came: Node's own packages exclude Debian's.
wanted() {
  sed 's/#.*//' "${package_lists[@]}" | tr -s ' ' '\n' | sed '/^$/d' |
    if command -v npm >/dev/null; then grep -vx npm; else cat; fi
}

missing() {
  local installed
  # shellcheck disable=SC2016  # the format is dpkg's
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p' | sort -u)
  wanted | sort -u | comm -23 - <(echo "$installed")
}

install_packages() {
  local -a packages=("$@")
  local line="apt-get install -y --no-install-recommends ${packages[*]}"
  if [[ $(id -u) != 0 ]]; then
    printf 'setup: %d packages are missing; run\n  sudo %s\n' "${#packages[@]}" "$line" >&2
    return 3
  fi
  echo "== setup: $line"
  if ! grep -qs VERSION_CODENAME=bookworm /etc/os-release; then
    echo "setup: Fathom is tested on Debian 12 (bookworm); this system's versions may differ" >&2
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
}

# The Python tools of tools/requirements.txt, in .cache/venv. A build needs none of them, so a failure is only said.
install_python_tools() {
  local stamp=.cache/venv/requirements.txt
  if cmp -s tools/requirements.txt "$stamp"; then return; fi
  echo "== setup: pip install -r tools/requirements.txt into .cache/venv"
  if python3 -m venv .cache/venv && .cache/venv/bin/pip install -q -r tools/requirements.txt; then
    cp tools/requirements.txt "$stamp"
  else
    echo "setup: the Python tools could not be installed; ./dev lint will skip them" >&2
  fi
}

# Nobody fails for these.
install_for_tests() {
  local -a packages
  package_lists=(tools/test_packages.txt)
  mapfile -t packages < <(missing)
  if ((${#packages[@]} == 0)); then return; fi
  install_packages "${packages[@]}" || echo "setup: tests that need ${packages[*]} will be skipped" >&2
}

main() {
  local -a packages
  if [[ ${1:-} == --tests ]]; then
    if command -v dpkg-query >/dev/null; then install_for_tests; fi
    tools/fetch_web.sh --tests || echo "setup: the page's own checks and tests will be skipped" >&2
    return
  fi
  if [[ ${1:-} == --build ]]; then package_lists=(tools/packages.txt); fi
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; install by hand what ${package_lists[*]} name" >&2
  else
    mapfile -t packages < <(missing)
    if ((${#packages[@]} > 0)); then install_packages "${packages[@]}"; fi
  fi
  tools/fetch_duckdb.sh
  tools/fetch_web.sh
  if [[ ${1:-} != --build ]]; then install_python_tools; fi
}

main "$@"
