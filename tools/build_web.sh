#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the page: index.html, page.js, page.css, icon.svg and questions.json (what a page without a server holds answers to),
# all that the program carries inside. Fetches what it is made with if that is missing (tools/fetch_web.sh).
# usage: tools/build_web.sh [FOLDER]   (default: web/dist)
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "$0")/../web/dist}")
cd "$(dirname "$0")/.."

# What the licences of the packages inside want to be said with them.
notices() {
  local name
  echo "/*"
  for name in preact @preact/signals @preact/signals-core uplot; do
    printf '%s\n\n' "$name"
    cat ".cache/web/node_modules/$name/LICENSE"
  done
  echo "*/"
}

tools/fetch_web.sh
mkdir -p "$out"
# Made elsewhere and moved, so that nobody ever reads half a file.
work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
esbuild=$(echo .cache/web/node_modules/@esbuild/linux-*/bin/esbuild)
"$esbuild" web/src/main.tsx --bundle --minify --format=esm --target=es2022 --legal-comments=none --log-level=warning \
  --tsconfig=web/tsconfig.json --banner:js="$(notices)" --outfile="$work/page.js"
cp web/index.html web/icon.svg web/questions.json "$work"
mv "$work"/* "$out"
