#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Puts the npm packages of tools/web_packages.txt into .cache/web/node_modules, verified by checksum. Runs none of their
# scripts and fetches no dependency that the list does not name. Quick when nothing is missing.
# usage: tools/fetch_web.sh [--tests|--bench]   --tests: those too that check and test the page; --bench: and its peers
set -euo pipefail
cd "$(dirname "$0")/.."

readonly list=tools/web_packages.txt
readonly cache=$PWD/.cache/web

case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *)
    echo "fetch_web: no esbuild is packaged for $(uname -m)" >&2
    exit 1
    ;;
esac

# fetch NAME VERSION SUM: unpacks the package, and says so in a file beside it as soon as all of it is there.
fetch() {
  local name=$1 version=$2 sum=$3 target=$cache/node_modules/$1 work
  if [[ $(cat "$target/.fetched" 2>/dev/null) == "$version $sum" ]]; then return; fi
  command -v npm >/dev/null || {
    echo "fetch_web: npm is missing, and the page is built with $name; run ./dev setup" >&2
    return 1
  }
  echo "fetching $name@$version"
  mkdir -p "$(dirname "$target")"
  work=$(mktemp -d "$cache/fetch.XXXXXX")
  # shellcheck disable=SC2064  # this folder, now
  trap "rm -rf '$work'" EXIT
  (cd "$work" && npm pack --silent "$name@$version" >/dev/null) || {
    echo "fetch_web: npm could not fetch $name@$version" >&2
    return 1
  }
  echo "$sum  $(echo "$work"/*.tgz)" | sha256sum --check --status || {
    echo "fetch_web: $name@$version does not have the checksum in $list; not used" >&2
    return 1
  }
  tar -xzf "$work"/*.tgz -C "$work"
  echo "$version $sum" >"$work/package/.fetched"
  rm -rf "$target"
  mv -T "$work/package" "$target"
  rm -rf "$work"
}

# wanted [--tests|--bench]: the lines of the list for this machine, up to the section that nobody asked for.
wanted() {
  local end="# check it"
  case ${1:-} in
    --tests) end="# peers" ;;
    --bench) end="" ;;
  esac
  awk -v arch="$arch" -v end="$end" 'end != "" && $0 == end {exit} /^[^#]/ && ($4 == "" || $4 == arch)' "$list"
}

mkdir -p "$cache/node_modules"
wanted "$@" | while read -r name version sum _; do fetch "$name" "$version" "$sum"; done
