#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes packages for systems with glibc 2.31 or newer: a tarball that runs where it is unpacked, a .deb and wheels. Those for
# this machine's architecture lie in build-package/out, those for the other one, cross-compiled, in build-package-ARCH/out.
# usage: tools/package.sh [--full] [--arch x86_64|aarch64] [NINJA ARGUMENT...]
#   --full: tries them in clean roots of Debian 11 and 12 (as root); the other architecture's under qemu-user
# DEBFULLNAME and DEBEMAIL, or else the name and address in git's settings, are the maintainer that the .deb names.
set -euo pipefail
cd "$(dirname "$0")/.."

full='' cpu=$(uname -m)
while [[ ${1:-} == --* ]]; do
  case $1 in
    --full) full=1 ;;
    --arch)
      cpu=${2:-}
      shift
      ;;
    *)
      echo "package: unknown option '$1'" >&2
      exit 2
      ;;
  esac
  shift
done
case $cpu in
  x86_64) debian=amd64 duckdb=x64 ;;
  aarch64) debian=arm64 duckdb=arm64 ;;
  *)
    echo "package: no packages are made for '$cpu'; --arch takes x86_64 and aarch64" >&2
    exit 2
    ;;
esac
build=$PWD/build-package
if [[ $cpu != "$(uname -m)" ]]; then build+=-$cpu; fi
readonly full cpu build out=$build/out
readonly targets="fathom fathom_guest fathom_guest_heap fathom_guest_alnair fathom_guest_alnair_heap fathom_query
  fathom_dftracer dftracer_wheel fathom_record datacrumbs datacrumbs_client manuals"

say() { printf '== package: %s\n' "$*"; }

# What CMake is told for the other architecture.
fetch_cross() {
  tools/cross_tools.sh "$cpu"
  tools/fetch_duckdb.sh "$duckdb"
  tools/cross_root.sh "$debian"
  options+=(-DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/cross.cmake" -DFATHOM_CROSS="$cpu"
    -DFATHOM_CROSS_ROOT="$(realpath ".cache/cross/$debian/root")")
}

# maintainer: "NAME <ADDRESS>", or nothing where nobody has said who it is.
maintainer() {
  local name=${DEBFULLNAME:-$(git config user.name)} address=${DEBEMAIL:-$(git config user.email)}
  if [[ -n $name && -n $address ]]; then echo "$name <$address>"; fi
}

options=()
tools/setup.sh
tools/package_root.sh "$debian"
if [[ $cpu != "$(uname -m)" ]]; then fetch_cross; fi
say "build in $(basename "$build")"
cmake -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFATHOM_TESTS=OFF -DFATHOM_PYTHON=all \
  -DFATHOM_PACKAGE_ROOT="$(realpath ".cache/package/$debian/root")" -DFATHOM_MAINTAINER="$(maintainer || true)" \
  "${options[@]}" >/dev/null
# shellcheck disable=SC2086  # words
cmake --build "$build" --target $targets -- "$@"

version=$(sed -n 's/^project(fathom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=fathom-$version-linux-$cpu
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
say "the wheels"
tools/wheel.py "$build/stage/$name" "$build" "$out" --arch "$cpu"
if [[ -n $full ]]; then tools/package_try.sh "$out" "$cpu"; fi
(cd "$out" && ls -sh -- *)
