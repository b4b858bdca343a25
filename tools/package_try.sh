#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tries packages in clean roots: the tarball in Debian 11, the .deb in Debian 12. Each records `ls` and makes a report.
# Packages for the other architecture run under qemu-user, which starts for their programs in a namespace of its own (Linux
# 6.7). There the .deb is unpacked, not installed: a root of an emulated dpkg takes too long to make.
# usage: tools/package_try.sh FOLDER [ARCH]   (as root; needs debootstrap)
set -euo pipefail
out=$(realpath "$1")
cpu=${2:-$(uname -m)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ $(id -u) != 0 ]] || ! command -v debootstrap >/dev/null; then
  echo "package: not tried: that needs root and debootstrap" >&2
  exit 3
fi
# shellcheck disable=SC2016  # apt's own variables
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | head -n 1)
emulator='' machine='' stages=() space=()
if [[ $cpu != "$(uname -m)" ]]; then
  emulator=$(command -v "qemu-$cpu-static")
  space=(--user --map-root-user)
  case $cpu in
    aarch64) machine='\xb7\x00' stages=(--foreign --arch=arm64) ;;
    x86_64) machine='\x3e\x00' stages=(--foreign --arch=amd64) ;;
  esac
fi
# For the kernel: an ELF file of 64 bits, an executable or a shared one, of that machine.
readonly magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00'$machine
readonly mask='\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff'

clean_root() {
  local deb
  echo "== package: a clean root of Debian's $1"
  debootstrap "${stages[@]}" --variant=minbase "$1" "$work/$1" "$mirror" >"$work/$1.log" 2>&1 || {
    tail -n 5 "$work/$1.log" >&2
    return 1
  }
  if [[ -z $emulator ]]; then return; fi
  for deb in "$work/$1"/var/cache/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$work/$1"
  done
}

# inside ROOT SCRIPT: with /proc and /dev, which go when it ends, as does the emulator for programs of that machine.
inside() {
  # shellcheck disable=SC2016  # of the inner shell
  unshare --mount "${space[@]}" sh -ec '
    if [ -n "$3" ]; then
      mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
      printf %s ":fathom:M::$4:$5:$3:F" >/proc/sys/fs/binfmt_misc/register
    fi
    mount --rbind /proc "$1/proc"
    mount --rbind /dev "$1/dev"
    exec chroot "$1" sh -ec "$2"' sh "$1" "$2" "$emulator" "$magic" "$mask"
}

# A library that fathom lacks, a layer that is not there or an empty report ends it.
# shellcheck disable=SC2016  # of the inner shell
readonly try='
  export PATH=/usr/sbin:/usr/bin:/sbin:/bin
  uname -m
  ldd --version | head -n 1
  "$fathom" --version
  "$fathom" run -q -o /tmp/x.fathom -- ls /etc >/dev/null
  "$fathom" report /tmp/x.fathom | grep -q posix
  rows=$("$fathom" sql /tmp/x.fathom --format csv "SELECT count(*) > 0 FROM events" | tail -n 1)
  test "$rows" = true
  "$fathom" doctor --format csv | grep -q "^posix,available"
  test -s "$man"
  echo "works: $fathom"'

clean_root bullseye
mkdir -p "$work/bullseye/opt/fathom" # an emulated root has what packages hold, not what they make
tar -xzf "$out"/fathom-*.tar.gz --strip-components=1 -C "$work/bullseye/opt/fathom"
inside "$work/bullseye" "fathom=/opt/fathom/bin/fathom man=/opt/fathom/share/man/man1/fathom-run.1; $try"

clean_root bookworm
if [[ -n $emulator ]]; then
  dpkg-deb --fsys-tarfile "$out"/*.deb | tar -x --keep-directory-symlink -C "$work/bookworm"
  inside "$work/bookworm" "fathom=fathom man=/usr/share/man/man1/fathom-run.1.gz; $try"
  exit
fi
cp "$out"/*.deb "$work/bookworm/tmp/"
# A minimal root leaves documentation out when it installs, so that pages are looked for elsewhere.
inside "$work/bookworm" "dpkg -i /tmp/*.deb >/dev/null; fathom=fathom man=/etc/fathom/watch.yaml; $try
  dpkg --purge fathom >/dev/null; test ! -e /usr/lib/fathom"
