#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Rewrites C++, Python, TypeScript and JavaScript files in the house style.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/sources.sh

mapfile -t files < <(cxx_files)
echo "== format: clang-format on ${#files[@]} files"
if ((${#files[@]} > 0)); then clang-format -i "${files[@]}"; fi

mapfile -t files < <(python_files)
if [[ -x .cache/venv/bin/ruff ]]; then
  echo "== format: ruff on ${#files[@]} files"
  .cache/venv/bin/ruff format -q "${files[@]}"
  .cache/venv/bin/ruff check -q --fix "${files[@]}"
else
  echo "format: ruff is missing, Python files are left as they are; ./dev setup installs it" >&2
fi

prettier=.cache/web/node_modules/prettier/bin/prettier.cjs
mapfile -t files < <(own_files 'web/*.ts' 'web/*.tsx' 'web/*.css' 'tests/page/*.mjs' 'src/*.js' 'tools/*.cjs')
if [[ -f $prettier ]]; then
  echo "== format: prettier on ${#files[@]} files"
  node "$prettier" --config web/.prettierrc.json --log-level warn --write "${files[@]}"
else
  echo "format: prettier is missing, the page's files are left as they are; tools/fetch_web.sh --tests fetches it" >&2
fi
