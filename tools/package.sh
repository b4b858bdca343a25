#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes packages for this architecture in build-package/out: a tarball that runs where it is unpacked, a .deb and a wheel,
# which has extensions for all Pythons on PATH. They are for systems with glibc 2.31 or newer.
# usage: tools/package.sh [--full] [NINJA ARGUMENT...]   --full: tries them in clean roots of Debian 11 and 12 (as root)
set -euo pipefail
cd "$(dirname "$0")/.."

full=
if [[ ${1:-} == --full ]]; then
  full=1
  shift
fi
readonly build=$PWD/build-package
readonly out=$build/out
readonly targets="fathom fathom_guest fathom_guest_heap fathom_guest_alnair fathom_guest_alnair_heap fathom_query
  fathom_dftracer fathom_record manuals"

say() { printf '== package: %s\n' "$*"; }

tools/setup.sh
tools/package_root.sh
say "build in build-package"
cmake -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFATHOM_TESTS=OFF -DFATHOM_PYTHON=all \
  -DFATHOM_PACKAGE_ROOT="$(realpath .cache/package/root)" >/dev/null
# shellcheck disable=SC2086  # words
cmake --build "$build" --target $targets -- "$@"

version=$(sed -n 's/^project(fathom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=fathom-$version-linux-$(uname -m)
rm -rf "$out" "$build/stage"
mkdir -p "$out"
say "$name.tar.gz"
DESTDIR=$build/stage cmake --install "$build" --prefix /opt/fathom --strip >/dev/null
mv "$build/stage/opt/fathom" "$build/stage/$name"
tools/check_packaged.py "$build/stage/$name"
tar -C "$build/stage" --owner=0 --group=0 --sort=name -czf "$out/$name.tar.gz" "$name"
say "the Debian package"
(cd "$build" && cpack -G DEB >/dev/null)
rm -rf "$out/_CPack_Packages"
for deb in "$out"/*.deb; do
  dpkg-deb -x "$deb" "$build/stage/deb"
  tools/check_packaged.py "$build/stage/deb"
done
say "the wheel"
tools/wheel.py "$build/stage/$name" "$build" "$out"
if [[ -n $full ]]; then tools/package_try.sh "$out"; fi
(cd "$out" && ls -sh -- *)
