#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Layer gpu on a machine with an NVIDIA GPU: what it costs a loop of launches and the replay of a graph, bare, with the
# hooks, with CUPTI and after it was taken down, as ratios of interleaved runs; and recordings of steps to be held against
# torch.profiler's counts, of runs of their own, and while both want CUPTI. Recordings are left as they are
# (device-spools.tar.gz): bench/gpu/device.py counts in them, wherever a whole Fathom is.
# usage: [KINDS="mlp vit"] bench/gpu/device.sh   (results in $OUT, else ./gpu-results; the kinds of steps that are counted)
set -u
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=bench/gpu/common.sh
. bench/gpu/common.sh

build libfathom.so --target fathom_guest
library=$work/build/libfathom.so
cc -O1 tests/cuda/program.c -o "$work/program" -ldl -lpthread
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
find / -name 'libcupti.so.1*' -not -path '/proc/*' 2>/dev/null

facts() { cat "$1"/spool/*.pool | strings -n 6 | grep -aE 'CUPTI' | sort | uniq -c; }

# record NAME LAYERS COMMAND…
record() {
  local name=$1 layers=$2
  shift 2
  FATHOM_OUT=$work/spools/$name.fathom FATHOM_LAYERS=$layers LD_PRELOAD=$library timeout 90 "$@"
  echo "$name: exit $?, $(du -sk "$work/spools/$name.fathom" 2>/dev/null | cut -f1) KiB"
  facts "$work/spools/$name.fathom"
}

say "what a capture does not survive"
cc -O1 bench/gpu/captures.c -o "$work/captures" -ldl && timeout 60 "$work/captures"

say programs
record find gpu "$work/program" resolver work
if ! facts "$work/spools/find.fathom" | grep -q 'CUPTI [0-9]'; then
  FATHOM_CUPTI=$(find / -name 'libcupti.so.13' -not -path '/proc/*' 2>/dev/null | head -1)
  export FATHOM_CUPTI
  echo "not found by itself; FATHOM_CUPTI=$FATHOM_CUPTI"
fi
record work gpu "$work/program" resolver work
record waves gpu "$work/program" resolver waves 5000
record switch gpu "$work/program" resolver switch 1000
record burst gpu "$work/program" resolver burst 100000
record leave gpu "$work/program" resolver leave 5000
record fork gpu "$work/program" resolver fork
FATHOM_GPU_GRAPHS=whole record whole gpu "$work/program" resolver work
FATHOM_CUPTI=none record events gpu "$work/program" resolver burst 20000

say "cost: seven rounds of launches and replays"
for round in 1 2 3; do
  for how in bare cuda gpu; do
    rm -rf "$work/cost.fathom"
    if [ $how = bare ]; then
      "$work/program" resolver device 20000
    else
      FATHOM_OUT=$work/cost.fathom FATHOM_LAYERS=$how LD_PRELOAD=$library "$work/program" resolver device 20000
    fi | sed "s/^/$how $round /"
  done
done >"$out/cost.txt"
head -3 "$out/cost.txt"
python3 - "$out/cost.txt" <<'PY'
import collections, statistics, sys
rows = collections.defaultdict(list)
for line in open(sys.argv[1]):
    word = line.split()
    if len(word) < 12:
        continue
    for state, launch, replay in ((word[2], word[4], word[6]), (word[7], word[9], word[11])):
        rows[word[0], state, "launch"].append(float(launch))
        rows[word[0], state, "replay"].append(float(replay))
for what in ("launch", "replay"):
    bare = statistics.median(rows["bare", "started", what] + rows["bare", "stopped", what])
    for how in ("bare", "cuda", "gpu"):
        for state in ("started", "stopped"):
            took = rows[how, state, what]
            if took:
                print(f"{what} {how} {state}: median {statistics.median(took):.0f} ns, best {min(took):.0f},",
                      f"ratio to bare {statistics.median(took) / bare:.3f}")
PY

if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
  say torch
  for kind in ${KINDS:-mlp vit graph loader compile}; do
    timeout 90 python3 -W ignore bench/gpu/steps.py "$kind" "$work/profiled-$kind.json" || echo "profiled $kind failed"
    STEPS_PROFILER=no record "torch-$kind" gpu,posix python3 -W ignore bench/gpu/steps.py "$kind" "$work/timed-$kind.json"
    [ "$kind" != loader ] && [ "$kind" != compile ] &&
      record "both-$kind" gpu,posix python3 -W ignore bench/gpu/steps.py "$kind" "$work/both-$kind.json"
    [ "$SECONDS" -gt 230 ] && break
  done
  say "steps: bare, hooks, hooks and CUPTI in turn"
  export STEPS_PROFILER=no
  for round in 1 2 3; do
    for kind in mlp vit; do
      for how in bare cuda gpu; do
        [ "$SECONDS" -gt 420 ] && break 3
        rm -rf "$work/cost.fathom"
        if [ $how = bare ]; then
          timeout 60 python3 -W ignore bench/gpu/steps.py "$kind" "$work/steps.json"
        else
          FATHOM_OUT=$work/cost.fathom FATHOM_LAYERS=$how LD_PRELOAD=$library timeout 60 \
            python3 -W ignore bench/gpu/steps.py "$kind" "$work/steps.json"
        fi
        python3 -c "import json; t = json.load(open('$work/steps.json')); print(f'$kind $how $round: step {t[\"step_us\"]:.0f} us, best of ten parts {t[\"best_step_us\"]:.0f}')"
      done
    done
  done
  rm -f "$work/steps.json"
  python3 - "$work" "$out" <<'PY'
import glob, json, os, sys
work, out = sys.argv[1:]
every = {os.path.basename(path)[:-5]: json.load(open(path)) for path in sorted(glob.glob(f"{work}/*.json"))}
json.dump(every, open(f"{out}/device-torch.json", "w"), indent=1)
for name, told in every.items():
    kernels = told.get("counts", {}).get("kernel:")
    print(f"{name}: kernels {kernels}, step {told['step_us']:.1f} us, loss {told['loss']:.6f}")
PY
else
  echo "no torch with a GPU here"
fi

say other frameworks
for python in python3 /opt/*/.venv/bin/python3; do
  command -v "$python" >/dev/null || continue
  [ "$SECONDS" -gt 430 ] && break
  with_frameworks "$python" gpu
  break
done

say results
for recording in "$work"/spools/*; do [ "$(du -sk "$recording" | cut -f1)" -gt 60000 ] && rm -rf "$recording"; done
tar -C "$work/spools" -czf "$out/device-spools.tar.gz" .
ls -l "$out"
rm -rf "$work"
say "done"
