#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Unpacks the libraries that Fathom links, of another Debian architecture, into .cache/cross/ARCH/root. They are not
# installed: some -dev packages (libsimdjson-dev) exclude the one of this machine. Needs no root and changes no apt state.
# usage: tools/cross_root.sh arm64|amd64
set -euo pipefail
cd "$(dirname "$0")/.."

readonly arch=$1
readonly place=$PWD/.cache/cross/$arch
readonly packages="libfmt-dev libfmt9 libsimdjson-dev libsimdjson14 libdw-dev libdw1 libelf-dev libelf1 libbpf-dev libzstd-dev libzstd1
  zlib1g-dev zlib1g liblzma-dev liblzma5 libbz2-1.0 libgtest-dev libgmock-dev googletest
  libcli11-dev nlohmann-json3-dev libprotozero-dev libyaml-cpp-dev libyaml-cpp0.7
  libssl-dev libssl3 libsqlite3-dev libsqlite3-0 libboost1.81-dev
  libpython3.11-dev"

# apt with lists of its own, for that architecture.
private_apt() {
  apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User="$(id -un)" \
    -o Dir::State="$place/state" -o Dir::State::status=/dev/null -o Dir::Cache="$place/cache" "$@"
}

fetch() {
  mkdir -p "$place/state/lists/partial" "$place/cache/archives/partial" "$place/debs"
  private_apt update
  # shellcheck disable=SC2086  # words
  (cd "$place/debs" && private_apt download $packages)
}

# /lib is a link to /usr/lib, as on a real Debian 12.
unpack() {
  local deb
  mkdir -p "$place/root/usr/lib"
  ln -s usr/lib "$place/root/lib"
  for deb in "$place"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$place/root"
  done
}

# Links to /lib/... would leave the folder.
make_links_relative() {
  local link
  find "$place/root" -type l -lname '/*' | while read -r link; do
    ln -sfr "$place/root$(readlink "$link")" "$link"
  done
}

if [[ $(cat "$place/done" 2>/dev/null) != "$packages" ]]; then
  echo "== cross: fetching the libraries of $arch into .cache/cross/$arch"
  rm -rf "$place"
  fetch
  unpack
  make_links_relative
  rm -rf "$place/debs" "$place/cache" "$place/state"
  echo "$packages" >"$place/done"
fi
