#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tries packages in clean roots: the tarball in Debian 11, the .deb in Debian 12. Each records `ls` and makes a report.
# usage: tools/package_try.sh FOLDER   (as root; needs debootstrap)
set -euo pipefail
out=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ $(id -u) != 0 ]] || ! command -v debootstrap >/dev/null; then
  echo "package: not tried: that needs root and debootstrap" >&2
  exit 3
fi
# shellcheck disable=SC2016  # apt's own variables
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | head -n 1)

clean_root() {
  echo "== package: a clean root of Debian's $1"
  debootstrap --variant=minbase "$1" "$work/$1" "$mirror" >"$work/$1.log" 2>&1 || {
    tail -n 5 "$work/$1.log" >&2
    return 1
  }
}

# inside ROOT SCRIPT: with /proc and /dev, which go when it ends.
inside() {
  # shellcheck disable=SC2016  # of the inner shell
  unshare --mount sh -ec 'mount --bind /proc "$1/proc"; mount --bind /dev "$1/dev"; exec chroot "$1" sh -ec "$2"' sh "$1" "$2"
}

# A library that fathom lacks, a layer that is not there or an empty report ends it.
# shellcheck disable=SC2016  # of the inner shell
readonly try='
  ldd --version | head -n 1
  "$fathom" run -q -o /tmp/x.fathom -- ls /etc >/dev/null
  "$fathom" report /tmp/x.fathom | grep -q posix
  rows=$("$fathom" sql /tmp/x.fathom --format csv "SELECT count(*) > 0 FROM events" | tail -n 1)
  test "$rows" = true
  "$fathom" doctor --format csv | grep -q "^posix,available"
  test -s "$man"
  echo "works: $fathom"'

clean_root bullseye
mkdir "$work/bullseye/opt/fathom"
tar -xzf "$out"/fathom-*.tar.gz --strip-components=1 -C "$work/bullseye/opt/fathom"
inside "$work/bullseye" "fathom=/opt/fathom/bin/fathom man=/opt/fathom/share/man/man1/fathom-run.1; $try"

clean_root bookworm
cp "$out"/*.deb "$work/bookworm/tmp/"
# A minimal root leaves documentation out when it installs, so that pages are looked for elsewhere.
inside "$work/bookworm" "dpkg -i /tmp/*.deb >/dev/null; fathom=fathom man=/etc/fathom/watch.yaml; $try
  dpkg --purge fathom >/dev/null; test ! -e /usr/lib/fathom"
