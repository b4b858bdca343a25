#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a machine with an NVIDIA GPU: builds the recording half alone, records small programs and training steps, counts
# what torch.profiler counts, and measures what a hook costs, as ratios within one run. The recordings are left packed as
# they are (spools.tar.gz): any Fathom opens them. usage: bench/gpu/run.sh   (results in $OUT, else ./gpu-results)
set -u
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=bench/gpu/common.sh
. bench/gpu/common.sh

build libfathom.so
library=$work/build/libfathom.so
ls -l "$library"

driver=${CUDA_DRIVER:-$(ldconfig -p | awk '/libcuda\.so\.1 /{print $NF; exit}')}
echo "driver $driver"
cc -O1 tests/cuda/program.c -o "$work/program" -ldl -lpthread
cc -O1 -DLINKED tests/cuda/program.c -o "$work/linked" -ldl -lpthread "$driver" || echo "no linked program"
cc -O1 bench/gpu/answers.c -o "$work/answers" -ldl
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader

say answers of the driver
nm -D --defined-only "$driver" | awk '$3 ~ /^cu[A-Z]/{print $3}' | sort -u >"$out/driver-symbols.txt"
sed -E 's/(_v[0-9]+)?(_ptsz|_ptds)?$//' "$out/driver-symbols.txt" | sort -u >"$work/names"
"$work/answers" <"$work/names" >"$work/answers.tsv"
echo "answers $?"
grep -v ^look-up "$work/answers.tsv"
gzip -c "$work/answers.tsv" >"$out/answers.tsv.gz"

# record NAME LAYERS COMMAND…
record() {
  local name=$1 layers=$2
  shift 2
  FATHOM_OUT=$work/spools/$name.fathom FATHOM_LAYERS=$layers LD_PRELOAD=$library timeout 100 "$@"
  local status=$?
  echo "$name: exit $status, $(du -sk "$work/spools/$name.fathom" 2>/dev/null | cut -f1) KiB"
}
mkdir -p "$work/spools"

say programs
for style in dlsym resolver resolver1 per-thread; do record "work-$style" cuda "$work/program" $style work; done
record work-linked cuda "$work/linked" linked work
record threads cuda "$work/program" resolver threads 16
record fork cuda "$work/program" resolver fork

say cost of a launch
best() { awk 'BEGIN{b=1e18} {if($1<b)b=$1} END{printf "%.0f", b}' "$1"; }
for _ in 1 2 3 4 5 6 7; do
  bare=$("$work/program" resolver cost 20000 | awk '/^ns/{print $2}')
  off=$(FATHOM_OUT=$work/cost-off.fathom FATHOM_LAYERS=posix LD_PRELOAD=$library "$work/program" resolver cost 20000 |
    awk '/^ns/{print $2}')
  rm -rf "$work/cost.fathom"
  on=$(FATHOM_OUT=$work/cost.fathom FATHOM_LAYERS=cuda LD_PRELOAD=$library "$work/program" resolver cost 20000 |
    awk '/^ns/{print $2}')
  echo "$bare" >>"$work/bare"
  echo "$off" >>"$work/off"
  echo "$on" >>"$work/on"
  echo "launch ns: bare $bare, library without layer cuda $off, hooked $on"
done
awk -v b="$(best "$work/bare")" -v f="$(best "$work/off")" -v n="$(best "$work/on")" 'BEGIN{
  printf "launch, best of seven: bare %d ns, library without layer cuda %d (%.3f), hooked %d (%.3f)\n", b, f, f/b, n, n/b}'

if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
  say torch
  for kind in mlp vit graph loader compile; do
    timeout 100 python3 -W ignore bench/gpu/steps.py $kind "$work/bare-$kind.json" || echo "bare $kind failed"
    record torch-$kind cuda,posix python3 -W ignore bench/gpu/steps.py $kind "$work/hooked-$kind.json"
    timeout 100 python3 -W ignore bench/gpu/steps.py $kind "$work/again-$kind.json" || echo "bare $kind failed"
    [ "$SECONDS" -gt 330 ] && break
  done
  export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
  [ "$SECONDS" -lt 400 ] && record torch-expandable cuda,posix python3 -W ignore bench/gpu/steps.py mlp "$work/hooked-expandable.json"
  python3 - "$work" "$out" <<'PY'
import glob, json, os, sys
work, out = sys.argv[1:]
every = {}
for path in sorted(glob.glob(f"{work}/*.json")):
    every[os.path.basename(path)[:-5]] = json.load(open(path))
json.dump(every, open(f"{out}/torch.json", "w"), indent=1)
for kind in ("mlp", "vit", "graph", "loader", "compile"):
    bare, hooked, again = (every.get(f"{how}-{kind}") for how in ("bare", "hooked", "again"))
    if bare and hooked and again:
        print(f"{kind}: step {bare['step_us']:.1f} and {again['step_us']:.1f} us bare, {hooked['step_us']:.1f} hooked,",
              f"loss as bare: {bare['loss'] == hooked['loss']}, bare as bare again: {bare['loss'] == again['loss']}")
PY
else
  echo "no torch with a GPU here"
fi

say other frameworks
for python in python3 /opt/*/.venv/bin/python3; do
  command -v "$python" >/dev/null || continue
  [ "$SECONDS" -gt 420 ] && break
  with_frameworks "$python" cuda
done

say results
tar -C "$work/spools" -czf "$out/spools.tar.gz" .
ls -l "$out"
rm -rf "$work"
say "done"
