# SPDX-License-Identifier: MIT
"""Layers of the kernel on other kernels than this machine's, in a virtual machine (--full)."""

import json
from pathlib import Path

from kit import Box, Skipped, check, check_true
from machine import kernels, run_in_machine

CALLS = 300
LAYERS = "syscall,sched,vfs,pagecache,net"
COUNTED = """
SELECT layer, name, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(errors) AS BIGINT) AS errors,
       CAST(sum(bytes) AS BIGINT) AS bytes
FROM intervals WHERE name = 'work' OR (file = '/tmp/data' AND name LIKE '%read%') GROUP BY ALL ORDER BY ALL
"""
SCRIPT = f"""
head -c 4096 /dev/zero > data
fathom doctor --format json > doctor.json
fathom run -q --layers {LAYERS} -o calls.fathom -- kernel 2 2 {CALLS}
fathom run -q --layers user --functions /bin/kernel:work -o functions.fathom -- kernel 2 2 {CALLS}
echo "=== part"
cat doctor.json
for trace in calls functions; do
  echo "=== part"
  fathom sql $trace.fathom "{COUNTED}" --format json
  echo "=== part"
  fathom sql $trace.fathom "SELECT layer, reason, count FROM losses" --format json
done
"""


def test_other_kernels(box: Box) -> None:
    """Exact counts by whichever hooks the kernel has: on 6.12 trampolines of functions, and many probes at once."""
    if not box.kit.full:
        raise Skipped("--full boots other kernels in a virtual machine")
    box.not_emulated("it emulates by itself")
    programs = {"bin/fathom": box.kit.fathom, "bin/libduckdb.so": (box.kit.build / "libduckdb.so").resolve()}
    programs["bin/kernel"] = box.kit.victim("kernel")
    for kernel in kernels():
        folder = box.root / kernel.name
        folder.mkdir()
        expect_counts(kernel, run_in_machine(kernel, SCRIPT, programs, folder))


def expect_counts(kernel: Path, printed: str) -> None:
    said, *parts = printed.split("=== part\n")
    check_true(f"{kernel.name} printed {printed[-2000:]}", len(parts) == 5)
    doctor, calls, lost, functions, lost_functions = (json.loads(part) for part in parts)
    states = {row["layer"]: row for row in doctor["layers"]}
    for layer in (*LAYERS.split(","), "fs", "block", "user"):
        print(f"     {kernel.name}: {layer} {states[layer]['state']} {states[layer].get('reason') or ''}", flush=True)
    found = {(row["layer"], row["name"]): (row["calls"], row["errors"], row["bytes"]) for row in (*calls, *functions)}
    check(f"{kernel.name}: reads ({said.strip()})", (4 * CALLS, 0, 400 * CALLS), found.get(("syscall", "pread64")))
    check(f"{kernel.name}: reads of the VFS", (4 * CALLS, 0, 400 * CALLS), found.get(("vfs", "read")))
    check(f"{kernel.name}: functions", 4, found[("user", "work")][0])
    check(f"{kernel.name}: losses", ([], []), (lost, lost_functions))
