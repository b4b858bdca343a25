#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches what packages of an architecture are linked with into .cache/package/ARCH: root/, the C library of Debian 11
# (glibc 2.31), and fmtlib/, simdjson/, bzip2/ and elfutils/, sources of libraries whose static form Debian does not have, or
# not for shared libraries. Installs nothing and changes no state of apt.
# usage: tools/package_root.sh amd64|arm64
set -euo pipefail
cd "$(dirname "$0")/.."

readonly arch=$1
readonly place=$PWD/.cache/package/$arch
readonly release=bullseye
readonly packages="libc6 libc6-dev libcrypt1 libcrypt-dev"
readonly sources="fmtlib simdjson bzip2 elfutils"
# shellcheck disable=SC1091  # a file of the system
own=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
# shellcheck disable=SC2016  # apt's own variables
from=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Component: main' |
  awk -v own="$own" '$2 == own {print $1; exit}')
if [[ -z $from ]]; then
  echo "package: apt does not say where packages of '$own' come from; apt-get update may help" >&2
  exit 3
fi

# private_apt ARGUMENT...: for that architecture, with lists of its own.
private_apt() {
  apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User="$(id -un)" \
    -o Dir::Etc::sourcelist="$place/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State="$place/state" -o Dir::State::status=/dev/null \
    -o Dir::Cache="$place/cache" "$@"
}

fetch() {
  mkdir -p "$place/state/lists/partial" "$place/cache/archives/partial" "$place/debs"
  printf 'deb %s %s main\ndeb-src %s %s main\n' "$from" "$release" "$from" "$own" >"$place/sources.list"
  private_apt update
  # shellcheck disable=SC2086  # words
  (cd "$place/debs" && private_apt download $packages && private_apt source --download-only $sources)
}

# The loader's folders are links, as on a system of today; links to /lib/... would leave the root.
unpack() {
  local deb link tarball name
  mkdir -p "$place/root/usr/lib" "$place/root/usr/lib64"
  ln -s usr/lib "$place/root/lib"
  ln -s usr/lib64 "$place/root/lib64"
  for deb in "$place"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$place/root"
  done
  find "$place/root" -type l -lname '/*' | while read -r link; do
    ln -sfr "$place/root$(readlink "$link")" "$link"
  done
  for name in $sources; do
    mkdir "$place/$name"
    tarball=$(find "$place/debs" -name "${name}_*.orig.tar.*" ! -name "*.asc")
    tar -xf "$tarball" --strip-components=1 -C "$place/$name"
  done
}

if [[ $(cat "$place/done" 2>/dev/null) != "$release $packages $sources" ]]; then
  echo "== package: fetching glibc of Debian 11 and the sources of $sources into .cache/package/$arch"
  rm -rf "$place"
  mkdir -p "$place"
  fetch
  unpack
  rm -rf "$place/debs" "$place/cache" "$place/state" "$place/sources.list"
  echo "$release $packages $sources" >"$place/done"
fi
