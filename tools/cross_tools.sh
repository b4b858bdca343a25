#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the compiler for the other architecture, and the emulator that runs what it compiles; quick when both are there.
# usage: tools/cross_tools.sh aarch64|x86_64   (status 3: they are missing and cannot be had; the reason is printed)
set -euo pipefail

readonly cpu=$1
readonly line="apt-get install -y --no-install-recommends g++-${cpu/_/-}-linux-gnu qemu-user-static"
if command -v "$cpu-linux-gnu-g++" >/dev/null && command -v "qemu-$cpu-static" >/dev/null; then exit 0; fi
if [[ $(id -u) != 0 ]]; then
  echo "a compiler or an emulator is missing; run: sudo $line"
  exit 3
fi
echo "== $line"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
$line -qq >/dev/null || {
  echo "a compiler for $cpu and qemu-user-static could not be installed"
  exit 3
}
