# SPDX-License-Identifier: MIT
"""Layers of the kernel on other kernels than this machine's, in a virtual machine (--full)."""

import json
import subprocess
from pathlib import Path

from jobs import may_take
from kit import Box, Failure, Skipped, check, check_true
from machine import kernels, run_in_machine

ALONE = "a virtual machine without acceleration is late with everything"
VERSIONS = ("5.10", "6.1", "6.12")
CALLS = 300
WORKERS = 4
PAGES = 64
SIZE = PAGES * 4096
LAYERS = "syscall,sched,vfs,fs,pagecache,block,net"
# A file system of its own, on a device that is a file; its path is that of the file system.
WORK = f"""
kernel 2 2 {CALLS}
dd if=/dev/zero of=/mnt/out bs=4096 count={PAGES} conv=fsync 2> /dev/null
echo 3 > /proc/sys/vm/drop_caches
dd if=/mnt/out of=/dev/null bs=4096 2> /dev/null
rm /mnt/out
"""
COUNTED = """
SELECT layer, name, coalesce(file, '') AS file, CAST(sum(calls) AS BIGINT) AS calls,
       CAST(sum(errors) AS BIGINT) AS errors, CAST(sum(bytes) AS BIGINT) AS bytes
FROM intervals WHERE file IN ('/tmp/data', '/mnt/out') OR (layer = 'block' AND pid > 0) OR layer IN ('user', 'sched')
GROUP BY ALL
UNION ALL SELECT 'lost ' || layer, reason, '', count, 0, 0 FROM losses
UNION ALL SELECT 'fact', key, value, 0, 0, 0 FROM run WHERE key LIKE '%hooks' ORDER BY ALL
"""
# `none` leaves out nothing.
SCRIPT = f"""
head -c 4096 /dev/zero > data
cp /disk.img disk.img
losetup /dev/loop0 disk.img
mount -t ext4 /dev/loop0 /mnt
cat > work << END{WORK}END
fathom doctor --format json > doctor.json
for without in none typed fentry; do
  FATHOM_KERNEL_WITHOUT=$without fathom run -q --layers {LAYERS} -o $without.fathom -- sh work
done
for without in sessions multi; do
  FATHOM_KERNEL_WITHOUT=sessions,$without fathom run -q --layers user --functions /bin/kernel:work \
    -o $without.fathom -- kernel 2 2 {CALLS}
done
echo "=== part"
cat doctor.json
for trace in none typed fentry sessions multi; do
  echo "=== part"
  [ -d $trace.fathom ] && fathom sql $trace.fathom "{COUNTED}" --format json || echo "[]"
done
"""
Counts = dict[tuple[str, str, str], tuple[int, int, int]]


@may_take(600)  # of each kernel some minutes
def test_other_kernels(box: Box) -> None:
    """Exact counts by whichever hooks the kernel has, and by those that stand in for them."""
    if not box.kit.full:
        raise Skipped("--full boots other kernels in a virtual machine")
    box.not_emulated("it emulates by itself")
    programs = {"bin/fathom": box.kit.fathom, "bin/libduckdb.so": (box.kit.build / "libduckdb.so").resolve()}
    programs |= {"bin/kernel": box.kit.victim("kernel"), "disk.img": file_system(box.root / "disk.img")}
    here = kernels()
    for version in VERSIONS:
        if not any(kernel.name.startswith(f"vmlinuz-{version}.") for kernel in here):
            print(f"     no kernel {version} is here: tools/fetch_kernels.sh {version}", flush=True)
    for kernel in here:
        folder = box.root / kernel.name
        folder.mkdir()
        expect_counts(kernel, run_in_machine(kernel, SCRIPT, programs, folder, ("loop",)))


def file_system(image: Path) -> Path:
    with image.open("wb") as file:
        file.truncate(16 << 20)
    made = subprocess.run(["mkfs.ext4", "-q", image], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Failure(f"mkfs.ext4: {made.stderr}")
    return image


def expect_counts(kernel: Path, printed: str) -> None:
    said, *parts = printed.split("=== part\n")
    check_true(f"{kernel.name} printed {printed[-2000:]}", len(parts) == 6)
    doctor, *rows = (json.loads(part) for part in parts)
    states = {row["layer"]: row for row in doctor["layers"]}
    for layer in (*LAYERS.split(","), "user"):
        print(f"     {kernel.name}: {layer} {states[layer]['state']} {states[layer].get('reason') or ''}", flush=True)
    best, plain, kprobes, many, one_by_one = (
        {(row["layer"], row["name"], row["file"]): (row["calls"], row["errors"], row["bytes"] or 0) for row in part}
        for part in rows
    )
    name = kernel.name.removeprefix("vmlinuz-")
    if not best:
        raise Failure(f"{name}: {said}")
    for flavor, counts in (("the best flavor", best), ("raw tracepoints", plain)):
        expect_calls(f"{name}, {flavor}", counts)
        check(f"{name}, {flavor}: losses", [], [key for key in counts if key[0].startswith("lost")])
    check_true(f"{name}: {sorted(plain)}", ("fact", "kernel.hooks", "raw tracepoints") in plain)
    expect_kprobes(f"{name}, kprobes", kprobes)
    ways = [many, one_by_one] if states["user"]["state"] == "available" else []
    for counts in ways:
        check(f"{name}: functions", WORKERS, counts[("user", "work", "")][0])
        check(f"{name}: losses", [], [key for key in counts if key[0].startswith("lost")])


def expect_calls(what: str, counts: Counts) -> None:
    reads = (WORKERS * CALLS, 0, WORKERS * CALLS * 100)
    file = "/mnt/out"
    exact = {
        ("syscall", "pread64", "/tmp/data"): reads,
        ("vfs", "read", "/tmp/data"): reads,
        ("syscall", "write", file): (PAGES, 0, SIZE),
        ("vfs", "write", file): (PAGES, 0, SIZE),
        ("fs", "write", file): (PAGES, 0, SIZE),
        ("syscall", "fsync", file): (1, 0, 0),
        ("vfs", "fsync", file): (1, 0, 0),
        ("fs", "fsync", file): (1, 0, 0),
        ("syscall", "read", file): (PAGES + 1, 0, SIZE),  # one finds the end
        ("vfs", "read", file): (PAGES + 1, 0, SIZE),
        ("vfs", "open", file): (2, 0, 0),
        ("fs", "unlink", file): (1, 0, 0),
    }
    check(what, exact, {key: counts.get(key) for key in exact})
    added = counts[("pagecache", "add", file)][0]  # written, then read; 5.10 looks at the page beyond the end, too
    check_true(f"{what}: {added} pages came in", added - 2 * PAGES in (0, 1))
    for call in ("read", "write"):
        moved = sum(row[2] for key, row in counts.items() if key[:2] == ("block", call))
        check_true(f"{what}: {call} {moved} of {SIZE} bytes at the device", SIZE <= moved < SIZE + 65536)
    check_true(f"{what}: threads waited for a CPU", counts[("sched", "runqueue", "")][0] > 0)


def expect_kprobes(what: str, counts: Counts) -> None:
    """The kernel follows only so many calls at a time to their end (on 5.10 two); others are counted as lost."""
    check_true(f"{what}: {sorted(counts)}", ("fact", "kernel.vfs.hooks", "kprobes") in counts)
    lost = counts.get(("lost vfs", "calls of functions whose return was not seen", ""), (0, 0, 0))[0]
    found = counts[("vfs", "read", "/tmp/data")]
    check_true(f"{what}: {found} and {lost} lost", found[0] <= WORKERS * CALLS <= found[0] + lost)
    check(f"{what}: bytes", found[0] * 100, found[2])
    check(f"{what}: writes", (PAGES, 0, SIZE), counts.get(("vfs", "write", "/mnt/out")))


COPIED = 256 << 10
PIECES = 8
WAYS = ("vectors", "send", "ranges", "splices")
COPIES = f"""
for way in {" ".join(WAYS)}; do
  cd /tmp/$way
  bytes $way
done
"""
MOVED = """
SELECT name, file, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(errors) AS BIGINT) AS errors,
       CAST(sum(bytes) AS BIGINT) AS bytes, CAST(max(dur_max) AS BIGINT) AS most
FROM intervals WHERE layer = 'vfs' AND (file LIKE '%/source' OR file LIKE '%/target') AND name != 'open' GROUP BY ALL
"""
COPYING = f"""
for way in {" ".join(WAYS)}; do
  mkdir $way
  head -c {COPIED} /dev/zero > $way/source
done
cat > work << 'END'{COPIES}END
for without in none typed fentry; do
  FATHOM_KERNEL_WITHOUT=$without fathom run -q --layers vfs -o $without.fathom -- sh work
  echo "=== part"
  [ -d $without.fathom ] && fathom sql $without.fathom "{MOVED}" --format json || echo "[]"
done
"""


@may_take(600)
def test_vectors_and_copies(box: Box) -> None:
    """Layer vfs: calls with vectors, and calls that copy are a read of one file and a write of the other."""
    if not box.kit.full:
        raise Skipped("--full boots other kernels in a virtual machine")
    box.not_emulated("it emulates by itself")
    programs = {"bin/fathom": box.kit.fathom, "bin/libduckdb.so": (box.kit.build / "libduckdb.so").resolve()}
    programs |= {"bin/bytes": box.kit.victim("bytes")}
    for kernel in kernels():
        folder = box.root / kernel.name
        folder.mkdir()
        said, *parts = run_in_machine(kernel, COPYING, programs, folder).split("=== part\n")
        check_true(f"{kernel.name} printed {said[-2000:]}", len(parts) == 3)
        for flavor, part in zip(("the best flavor", "raw tracepoints", "kprobes"), parts, strict=True):
            expect_copies(f"{kernel.name}, {flavor}", part)


def expect_copies(what: str, printed: str) -> None:
    rows = {(row["file"], row["name"]): row for row in json.loads(printed[: printed.rindex("]") + 1])}
    wanted = {(f"/tmp/{way}/{file}", call) for way in WAYS for file, call in (("source", "read"), ("target", "write"))}
    check(f"{what}: files", wanted, set(rows))
    for (file, call), row in rows.items():
        check(f"{what}: bytes of {file}", (COPIED, 0), (row["bytes"], row["errors"]))
        pieces = row["calls"] == PIECES or (file == "/tmp/splices/target" and row["calls"] > PIECES)
        check_true(f"{what}: {row}", pieces and (call == "write" or row["most"] > 0))
