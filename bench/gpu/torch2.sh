#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fathom.torch on a machine with an NVIDIA GPU and PyTorch 2: trainings with a DataLoader, checkpointed layers, mixed
# precision, torch.compile, CUDA graphs. Says here whether each computed the same bits bare and recorded; the recordings are
# left as they are (torch2-spools.tar.gz), and bench/gpu/torch2_counts.py holds their phases and kernels against what was
# counted beforehand, wherever a whole Fathom is.
# usage: [KINDS="loader amp"] bench/gpu/torch2.sh   (results in $OUT, else ./gpu-results)
set -u
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=bench/gpu/common.sh
. bench/gpu/common.sh

python=${PYTHON:-python3}
"$python" -c 'import torch; assert torch.cuda.is_available(); print("torch", torch.__version__, torch.cuda.get_device_name())' || exit 1
build libfathom.so --target fathom_guest
library=$work/build/libfathom.so
# The extension needs a C compiler and the headers of this Python alone.
cmake -S python -B "$work/record" -DFATHOM_PYTHON="$(command -v "$python")" >"$work/record.log" 2>&1 &&
  cmake --build "$work/record" >>"$work/record.log" 2>&1
export PYTHONPATH=$top/python FATHOM_BUILD=$work/build PYTHONDONTWRITEBYTECODE=1 CUBLAS_WORKSPACE_CONFIG=:4096:8
cp -r "$work/record/python" "$work/build/" 2>/dev/null
if ! "$python" -c 'import fathom._record'; then
  tail -n 20 "$work/record.log"
  echo "the extension was not built: does $python have its headers?"
  exit 1
fi

for kind in ${KINDS:-loader checkpointed amp compile overhead graph}; do
  say "$kind"
  recording=$work/spools/torch2-$kind.fathom
  timeout 120 "$python" -W ignore bench/gpu/torch2.py "$kind" "$work/bare.json" >"$work/bare.txt" || echo "$kind failed bare"
  FATHOM_OUT=$recording FATHOM_LAYERS=app,gpu,posix LD_PRELOAD=$library timeout 120 \
    "$python" -W ignore -m fathom.torch bench/gpu/torch2.py "$kind" "$work/spools/torch2-$kind.json" >"$work/recorded.txt"
  echo "$kind: exit $?, $(du -sk "$recording" 2>/dev/null | cut -f1) KiB"
  if cmp -s "$work/bare.txt" "$work/recorded.txt"; then echo "$kind: the same bits"; else
    echo "$kind: DIFFERENT"
    cat "$work/bare.txt" "$work/recorded.txt"
  fi
done

say results
tar -C "$work/spools" -czf "$out/torch2-spools.tar.gz" .
ls -l "$out"
rm -rf "$work"
say "done"
