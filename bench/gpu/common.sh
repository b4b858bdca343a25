# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts of bench/gpu share; read by them in the project's top directory. Results go to $out ($OUT, else
# ./gpu-results), everything else to $work.
# shellcheck disable=SC2034  # read by whoever reads this
top=$PWD
out=${OUT:-$top/gpu-results}
work=$(mktemp -d)
mkdir -p "$out" "$work/spools"

say() { printf '== %s (%ds)\n' "$*" "$SECONDS"; }

# build LIBRARY [ARGUMENT…]: the recording half alone; ends here where that library does not come of it.
build() {
  local wanted=$work/build/$1
  shift
  say build
  cmake -S "$top" -B "$work/build" -DFATHOM_RECORD_ONLY=ON -DCMAKE_BUILD_TYPE=Release >"$work/cmake.log" 2>&1 &&
    cmake --build "$work/build" -j "$(nproc)" "$@" >"$work/build.log" 2>&1
  [ -f "$wanted" ] && return
  tail -n 40 "$work/cmake.log" "$work/build.log"
  exit 1
}

# with_frameworks PYTHON LAYER: CuPy and JAX where it has them, by the script's own `record`.
with_frameworks() {
  local name
  name=$(echo "$1" | tr -c 'a-z0-9\n' '-')
  "$1" -c 'import cupy' 2>/dev/null && record "cupy$name" "$2" "$1" -W ignore -c '
import cupy; a = cupy.arange(1000, dtype=cupy.float32); print("cupy", float((a * 2).sum()))'
  "$1" -c 'import jax' 2>/dev/null && record "jax$name" "$2" "$1" -W ignore -c '
import jax, jax.numpy as jnp; print("jax", jax.devices()[0].platform, float(jax.jit(lambda x: (x @ x).sum())(jnp.ones((64, 64)))))'
}
