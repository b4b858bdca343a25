#!/bin/bash
# SPDX-License-Identifier: MIT
# Debian's kernels for tests in a virtual machine (tests/run --full): unpacked in .cache/kernels, not installed. Those
# that no configured suite of apt offers are named and left out.
# usage: tools/fetch_kernels.sh [VERSION...]   default: 5.10 6.1 6.12
set -euo pipefail
cd "$(dirname "$0")/.."
versions=("$@")
if [ ${#versions[@]} -eq 0 ]; then versions=(5.10 6.1 6.12); fi
mkdir -p .cache/kernels
cd .cache/kernels

# newest VERSION: the name of its package; packages of debugging symbols and unsigned ones have longer names.
newest() {
  apt-cache pkgnames "linux-image-$1." | { grep -E -- "-cloud-$(dpkg --print-architecture)\$" || true; } | sort -V | tail -n 1
}

# unpack PACKAGE: in place of older ones of its version.
unpack() {
  local package=$1
  rm -rf "linux-image-$version".*
  apt-get download "$package"
  dpkg-deb -x "$package"_*.deb "$package.new"
  rm "$package"_*.deb
  mv "$package.new" "$package"
}

found=0
for version in "${versions[@]}"; do
  package=$(newest "$version")
  if [ -z "$package" ]; then
    echo "apt offers no kernel $version for clouds (apt-get update may help)" >&2
    continue
  fi
  found=1
  if [ ! -d "$package" ]; then unpack "$package"; fi
  echo "$PWD/$package"
done
if [ $found -eq 0 ]; then exit 3; fi
