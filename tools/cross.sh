#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds for the other architecture (aarch64 from x86_64, x86_64 from aarch64) and runs its unit tests, and the victims
# of tests/ with the in-process library in them, under qemu-user; what qemu-user cannot do is skipped, with the reason.
# Where the packages cannot be had it says so and is skipped.
# usage: tools/cross.sh [NINJA ARGUMENT...]
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "cross: skipped: $*"
  exit 0
}

case $(uname -m) in
  x86_64) cpu=aarch64 debian=arm64 duckdb=arm64 ;;
  aarch64) cpu=x86_64 debian=amd64 duckdb=x64 ;;
  *) skip "$(uname -m) is none of Fathom's architectures" ;;
esac
readonly triplet=$cpu-linux-gnu
readonly root=$PWD/.cache/cross/$debian/root
readonly emulator=(qemu-"$cpu"-static -L "/usr/$triplet" -E "LD_LIBRARY_PATH=$root/usr/lib/$triplet")

# A program that opens, reads and closes, with the library in it; its recording must hold what it did.
try_guest() {
  local work=$PWD/build-cross/victim
  if [[ ! -f build-cross/libfathom.so ]]; then
    echo "cross: there is no build-cross/libfathom.so to try"
    return
  fi
  rm -rf "$work" && mkdir -p "$work"
  tools/check_guest.py build-cross/libfathom.so build-cross/libfathom_heap.so build-cross/libpfinterpose.so \
    build-cross/libpfinterpose_heap.so --prefix "$triplet-"
  "$triplet-gcc" -O1 -o "$work/victim" tools/cross_victim.c
  echo "== cross: a program with the library in it, under ${emulator[0]}"
  "${emulator[@]}" -E LD_PRELOAD="$PWD/build-cross/libfathom.so" -E FATHOM_OUT="$work/out.fathom" "$work/victim"
  if [[ -x build-cross/fathom ]]; then check_recording "$work/out.fathom"; fi
}

check_recording() {
  local found
  found=$("${emulator[@]}" build-cross/fathom sql "$1" --format csv \
    "SELECT name, count(*) AS calls FROM events WHERE file LIKE '%/cross_victim.c' GROUP BY name ORDER BY name")
  echo "$found"
  if [[ $found != $'name,calls\nclose,1\nopen,1\nread,3' ]]; then
    echo "cross: the recording does not hold what the program did" >&2
    return 1
  fi
}

# The programs of tests/victims, built for the other architecture, with the same oracles. Their recordings are asked by
# the program of this machine.
try_victims() {
  if [[ ! -x build/fathom ]]; then
    echo "cross: there is no build/fathom to ask the recordings of victims; ./dev build makes it"
    return
  fi
  echo "== cross: victims under ${emulator[0]}"
  tests/run --cross "$cpu"
}

said=$(tools/cross_tools.sh "$cpu") || skip "$said"
tools/setup.sh
tools/fetch_duckdb.sh "$duckdb"
tools/cross_root.sh "$debian" || skip "the libraries of $debian could not be fetched"
echo "== cross: build for $cpu in build-cross"
if [[ ! -f build-cross/build.ninja ]]; then
  cmake -B build-cross -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/cross.cmake \
    -DFATHOM_CROSS="$cpu" -DFATHOM_CROSS_ROOT="$root" >/dev/null
fi
cmake --build build-cross -- "$@"
echo "== cross: unit tests under ${emulator[0]}"
ctest --test-dir build-cross --output-on-failure -j "$(nproc)"
try_guest
try_victims
