#!/bin/bash
# SPDX-License-Identifier: MIT
# Debian's kernels for tests in a virtual machine (tests/run --full): unpacked in .cache/kernels, not installed. Those
# that apt cannot get are named and left out.
# usage: tools/fetch_kernels.sh [VERSION...]   default: 5.10 6.1 6.12
set -euo pipefail
cd "$(dirname "$0")/.."
versions=("$@")
if [ ${#versions[@]} -eq 0 ]; then versions=(5.10 6.1 6.12); fi
mkdir -p .cache/kernels
cd .cache/kernels
apt=() # options: which lists apt uses

# newest VERSION: the name of its package; packages of debugging symbols and unsigned ones have longer names.
newest() {
  apt-cache "${apt[@]}" pkgnames "linux-image-$1." |
    { grep -E -- "-cloud-$(dpkg --print-architecture)\$" || true; } | sort -V | tail -n 1
}

# use_suite NAME: a release that this machine does not install from, from where its own packages come. Lists of its own:
# what the machine installs from does not change.
use_suite() {
  local folder=$PWD/lists-$1 from
  # shellcheck disable=SC2016 # apt's own variables
  from=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Component: main' |
    awk -v own="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" '$2 == own {print $1; exit}')
  if [ -z "$from" ]; then return 1; fi
  mkdir -p "$folder/lists/partial" "$folder/archives/partial"
  echo "deb $from $1 main" >"$folder/sources.list"
  apt=(-o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder" -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" -q update >&2
}

# fetch VERSION PACKAGE: in the place of older ones of its version.
fetch() {
  rm -rf "linux-image-$1".*
  apt-get "${apt[@]}" -o APT::Sandbox::User=root download "$2"
  dpkg-deb -x "$2"_*.deb "$2.new"
  rm "$2"_*.deb
  mv "$2.new" "$2"
}

found=0
for version in "${versions[@]}"; do
  apt=()
  package=$(newest "$version")
  if [ -z "$package" ] && [ "$version" = 5.10 ] && use_suite bullseye; then package=$(newest "$version"); fi
  if [ -z "$package" ]; then
    echo "apt has no kernel $version for clouds (apt-get update may help)" >&2
    continue
  fi
  found=1
  if [ ! -d "$package" ]; then fetch "$version" "$package"; fi
  echo "$PWD/$package"
done
if [ $found -eq 0 ]; then exit 3; fi
