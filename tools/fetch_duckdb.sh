#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Puts the pinned DuckDB into .cache/duckdb: {x64,arm64}/libduckdb.so and duckdb.h, verified by checksum.
# usage: tools/fetch_duckdb.sh [x64|arm64]...   (default: this machine's)
set -euo pipefail
cd "$(dirname "$0")/.."

readonly library_version=1.5.5-r.5
readonly header_version=1.4.4  # the newest npm package with the C header; all its functions are in 1.5.5
readonly sums=$PWD/tools/duckdb.sha256
readonly cache=$PWD/.cache/duckdb

this_arch() {
  case $(uname -m) in
    x86_64) echo x64 ;;
    aarch64 | arm64) echo arm64 ;;
    *)
      echo "fetch_duckdb: no DuckDB is packaged for $(uname -m)" >&2
      return 1
      ;;
  esac
}

# verified FILE: FILE of the cache is there with the pinned checksum.
verified() {
  [[ -f $cache/$1 ]] && (cd "$cache" && grep "  $1\$" "$sums" | sha256sum --check --status)
}

# fetch PACKAGE MEMBER FILE: takes one member out of an npm package into the cache.
fetch() {
  local package=$1 member=$2 file=$3 work
  if verified "$file"; then return; fi
  command -v npm >/dev/null || {
    echo "fetch_duckdb: npm is missing; run ./dev setup" >&2
    return 1
  }
  echo "fetching $package for $file"
  work=$(mktemp -d "$cache/fetch.XXXXXX")
  # shellcheck disable=SC2064  # this folder, now
  trap "rm -rf '$work'" EXIT
  (cd "$work" && npm pack --silent "$package" >/dev/null && tar -xzf ./*.tgz "$member")
  mkdir -p "$(dirname "$cache/$file")"
  mv "$work/$member" "$cache/$file"
  rm -rf "$work"
  verified "$file" || {
    rm -f "$cache/$file"
    echo "fetch_duckdb: $file of $package does not have the checksum in tools/duckdb.sha256; not used" >&2
    return 1
  }
}

mkdir -p "$cache"
if (($# == 0)); then
  set -- "$(this_arch)"
fi
fetch "duckdb@$header_version" package/src/duckdb/src/include/duckdb.h duckdb.h
for arch in "$@"; do
  fetch "@duckdb/node-bindings-linux-$arch@$library_version" package/libduckdb.so "$arch/libduckdb.so"
done
