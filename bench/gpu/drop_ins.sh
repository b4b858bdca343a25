#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a machine with an NVIDIA GPU: what NVML tells the sampler of layer resource and what that costs, NVTX ranges of
# PyTorch, and Alnair's drop-in with a training step. The recordings are left as they are (drop-ins.tar.gz): `fathom collect`
# of the hidden one writes Alnair's logs. usage: bench/gpu/drop_ins.sh   (results in $OUT, else ./gpu-results)
set -u
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=bench/gpu/common.sh
. bench/gpu/common.sh

build libpfinterpose.so
ls -l "$work/build"/*.so
c++ -std=c++20 -O2 -Isrc bench/gpu/sampling.cc src/sources/resources/gpu_{sampler,parts}.cc src/sources/resources/nvml.cc \
  src/base/clock.cc -o "$work/sampling" -ldl || exit 1
library=$work/build/libfathom.so
torch() { timeout 100 python3 -W ignore bench/gpu/annotated.py "$@"; }
python3 -c 'import torch; assert torch.cuda.is_available(); print("torch", torch.__version__)'

say NVML, nobody at work
"$work/sampling" 3
nvidia-smi --query-gpu=name,driver_version,utilization.gpu,memory.used,power.draw,clocks.sm,temperature.gpu --format=csv,noheader

say NVML, a program at work
torch busy 12 &
program=$!
sleep 5
python=$(pgrep -P "$program" || echo "$program")
python=$(pgrep -P "$python" || echo "$python")
echo "the program is $python; descriptors of the driver: $(find "/proc/$python/fd" -lname '/dev/nvidia*' 2>/dev/null | wc -l); namespace $(readlink /proc/self/ns/pid)"
"$work/sampling" 5 "$python"
nvidia-smi --query-gpu=utilization.gpu,memory.used,power.draw,clocks.sm,temperature.gpu --format=csv,noheader
wait "$program"

say NVTX
torch steps 10
FATHOM_OUT=$work/spools/nvtx.fathom FATHOM_LAYERS=app,cuda LD_PRELOAD=$library NVTX_INJECTION64_PATH=$library torch steps 10
echo "exit $?"
for _ in 1 2 3; do  # bare, then recorded
  torch cost
  rm -rf "$work/cost.fathom"
  FATHOM_OUT=$work/cost.fathom FATHOM_LAYERS=app LD_PRELOAD=$library NVTX_INJECTION64_PATH=$library torch cost
done

say "Alnair's drop-in"
torch profiled 10
PFLOG=$work/spools/logs LD_PRELOAD=$work/build/libpfinterpose.so torch steps 10
echo "exit $?"
find "$work/spools/logs" -maxdepth 1
(cd "$work/spools" && LD_PRELOAD=$work/build/libpfinterpose.so sh -c 'true; ls -A')

say results
tar -C "$work/spools" -czf "$out/drop-ins.tar.gz" .
ls -l "$out"
rm -rf "$work"
say "done"
