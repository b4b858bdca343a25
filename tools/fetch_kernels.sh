#!/bin/bash
# SPDX-License-Identifier: MIT
# Debian's kernel 6.12 for tests in a virtual machine (tests/run --full): unpacked in .cache/kernels, not installed.
# usage: tools/fetch_kernels.sh
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .cache/kernels
cd .cache/kernels
package=$(apt-cache depends "linux-image-6.12-cloud-$(dpkg --print-architecture)" | awk '/Depends: linux-image-[0-9]/ {print $2; exit}')
if [ -z "$package" ]; then
  echo "there is no such package; apt-get update may help" >&2
  exit 3
fi
[ -d "$package" ] && exit
apt-get download "$package"
dpkg-deb -x "${package}"_*.deb "$package.new"
rm "${package}"_*.deb
mv "$package.new" "$package"
