# SPDX-License-Identifier: MIT
"""Layers of the kernel: whose work it was, on which file, and which part of it took the time."""

import json
import os
import platform
import shutil
import subprocess

from kit import Box, Skipped, check, check_true
from test_kernel import SYSCALL
from test_kernel_proofs import sums_by

TURN = "hooks of the kernel"


def needs_layer(box: Box, layer: str) -> None:
    """Skipped where the recording has none of it."""
    if not box.rows(f"SELECT 1 FROM layers WHERE layer = '{layer}' AND state IN ('on', 'partial')"):
        raise Skipped(f"layer {layer} cannot be recorded")


def test_threads_of_io_uring(box: Box) -> None:
    """What its workers and the thread that polls read is of the process that asked, and its end is the last one's."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(4096))
    program, calls = box.kit.victim("uring"), 40
    for how in ("async", "polled"):
        box.trace = box.root / f"{how}.fathom"
        run = (box.kit.fathom, "run", "-q", "--layers", "pagecache,fs", "-o", box.trace)
        started = box.start(*run, "--", program, calls, how)
        box.finish(started, None)
        if started.returncode == 3:
            raise Skipped("io_uring is not allowed here")
        needs_layer(box, "pagecache")
        (life,) = box.rows(f"SELECT pid, exit FROM processes WHERE command LIKE '%uring {calls} {how}'")
        looked = f"layer = 'pagecache' AND name = 'lookup' AND file = '{box.dir / 'data'}'"
        rows = box.rows(f"SELECT DISTINCT pid FROM intervals WHERE {looked} AND tid != pid")
        check(f"{how}: process of the threads that read", [(life[0],)], rows)
        check(f"{how}: exit", 0, life[1])
        done = sums_by(box, "pid", looked)[life[0]][0]
        check_true(f"{how}: {done} reads", done >= calls)
        read = sums_by(box, "pid", f"layer = 'fs' AND name = 'read' AND file = '{box.dir / 'data'}'")
        check(f"{how}: by the file system", {life[0]: (calls, 0, 512 * calls)}, read)


def test_paths_of_calls(box: Box) -> None:
    """Calls that take a path name it, absolute and normalised, whether there is such a file or not."""
    box.needs_layer("syscall")
    box.record(box.kit.victim("errands"), box.dir, options=(*SYSCALL, "--detail", "syscall"))
    check("losses", 0, box.losses())
    wanted = {
        ("mkdir%", "house"): (1, 0),
        ("mkdir%", "house/room"): (1, 0),
        ("newfstatat", "house/old"): (6, 0),
        ("newfstatat", "house"): (5, 0),
        ("open%", "house/missing"): (3, 3),
        ("chdir", "house/room"): (1, 0),
        ("faccessat", "house/room/lost"): (6, 6),
        ("symlink%", "house/room/link"): (1, 0),
        ("rename%", "house/room/link"): (1, 0),
        ("unlink%", "house/other"): (1, 0),
    }
    for (name, path), calls in wanted.items():
        where = f"layer = 'syscall' AND name LIKE '{name}' AND file = '{box.dir / path}'"
        for sums in ("sum(calls), sum(errors) FROM intervals", "count(*), count(error) FROM events"):
            (row,) = box.rows(f"SELECT {sums} WHERE {where}")
            check(f"{name} of {path}", calls, tuple(int(value or 0) for value in row))
    nowhere = "SELECT count(*) FROM events WHERE name = 'faccessat' AND error = 'EFAULT' AND file IS NULL"
    check("of no text, no file", 1, box.value(nowhere))


def test_paths_that_are_wanted(box: Box) -> None:
    """A filter by path holds for files that there are not: by their text, or by where it begins."""
    box.needs_layer("syscall")
    house = box.dir / "house"
    house.mkdir()
    script = (
        f"test -e {house}; test -e {house}/gone; test -e {house}s; test -e {box.dir}/else; cd house; test -e lost; :"
    )
    box.record("sh", "-c", script, options=(*SYSCALL, "--filter", f"path={house}"))
    stats = "name LIKE '%stat%' OR name LIKE '%access%'"
    found = {row[0] for row in box.rows(f"SELECT DISTINCT file FROM intervals WHERE {stats}")}
    check("files", {str(house), str(house / "gone"), str(house / "lost")}, found)


def test_program_of_32_bits(box: Box) -> None:
    """It has numbers, registers and offsets of its own."""
    box.needs_layer("syscall")
    flags = ("-m32", "-nostdlib", "-static", "-fno-pic", "-no-pie", "-fno-stack-protector")
    try:
        program = box.kit.victim("narrow", *flags)
    except subprocess.CalledProcessError as error:
        raise Skipped("no program of 32 bits can be made here") from error
    (box.dir / "data").write_bytes(b"0123456789")
    if platform.machine() != "x86_64" or subprocess.run([program], capture_output=True, check=False).returncode != 0:
        raise Skipped("no program of 32 bits runs here")
    box.record(program, options=(*SYSCALL, "--detail", "syscall", "--filter", "call=*"))
    often = {
        name: row
        for name, row in sums_by(box, "name").items()
        if name in ("getpid", "getuid32", "write", "pread64", "open", "writev", "fremovexattr")
    }
    wanted = {
        "getpid": (70, 0, 0),
        "getuid32": (30, 0, 0),
        "write": (20, 0, 140),
        "pread64": (5, 0, 20),
        "open": (4, 3, 0),
    }
    check("calls", wanted, often)
    where = f"FROM events WHERE name = 'pread64' AND file = '{box.dir / 'data'}'"
    check("reads", [(4, 3, "read")], box.rows(f'SELECT DISTINCT size, "offset", category {where}'))
    lost = f"SELECT count(*) FROM events WHERE name = 'open' AND file = '{box.dir / 'missing'}'"
    check("opens in vain", 3, box.value(lost))


def test_time_of_faults(box: Box) -> None:
    """A page that comes from the device takes its time, and `explain` tells where it went."""
    box.needs_layer("syscall")
    pages = 16
    (box.dir / "data").write_bytes(os.urandom(4096 * pages))
    layers = "pagecache,block,sched"
    box.record(box.kit.victim("accounts", "-static"), "mapped", pages, options=("--layers", layers, "--detail", layers))
    needs_layer(box, "pagecache")
    needs_layer(box, "block")
    file = box.dir / "data"
    where = f"layer = 'pagecache' AND name = 'fault' AND file = '{file}'"
    ((faults, least),) = box.rows(f"SELECT count(*), min(dur) FROM events WHERE {where}")
    check("faults", pages, faults)
    if least == 0:
        raise Skipped("here the kernel does not tell when a fault has ended")
    one = "SELECT min(dur) FROM events WHERE layer = 'block' AND name = 'read'"
    check_true(f"{least} ns, as long as a read at least", least >= box.value(one))
    words = ("report", box.trace, "explain", "--file", file, "--format", "json")
    rows = json.loads(box.fathom(*words))["where_the_time_went"]
    check("what took longest", ("fault", "pagecache", pages), tuple(rows[0][key] for key in ("call", "layer", "calls")))
    reads = [row["calls"] for row in rows if (row["layer"], row["call"]) == ("block", "read")]
    check_true(f"each went to the device: {rows}", sum(reads) >= pages)


def test_queue_and_device(box: Box) -> None:
    """A request's time in the queue and at the device are its time."""
    box.needs_layer("syscall")
    script = "dd if=/dev/zero of=out bs=64k count=20 oflag=direct status=none || exit 7"
    run = (box.kit.fathom, "run", "-q", "--layers", "syscall,block", "--detail", "syscall,block", "-o", box.trace)
    started = box.start(*run, "--", "sh", "-c", script)
    box.finish(started, None)
    if started.returncode == 7:
        raise Skipped("no direct I/O here")
    needs_layer(box, "block")
    parts = "CAST(args['queue'] AS BIGINT) AS queue, CAST(args['device'] AS BIGINT) AS device"
    told = f"SELECT dur, {parts}, \"offset\" FROM events WHERE layer = 'block' AND name = 'write'"
    sums = 'count(*) >= 20, bool_and(queue >= 0 AND device > 0 AND queue + device = dur), count("offset")'
    check("requests", [(True, True, 0)], box.rows(f"SELECT {sums} FROM ({told})"))
    rows = json.loads(box.fathom("report", box.trace, "explain", "--call", "write", "--format", "json"))
    calls = {row["call"] for row in rows["where_the_time_went"] if row["layer"] == "block"}
    check_true(f"explain tells both: {calls}", {"(in the queue)", "(at the device)"} <= calls)


def test_reads_of_file_systems(box: Box) -> None:
    """Through the page cache, beside it, and by calls that copy: bytes of the right file."""
    box.needs_layer("syscall")
    size = 1 << 20
    (box.dir / "data").write_bytes(os.urandom(size))
    direct = "dd if=data of=/dev/null bs=64k iflag=direct status=none || exit 7"
    written_so = "dd if=/dev/zero of=beside bs=64k count=16 oflag=direct status=none"
    script = f"dd if=data of=/dev/null bs=64k status=none && cp --reflink=never data copy && {direct}; {written_so}"
    run = (box.kit.fathom, "run", "-q", "--layers", "fs", "-o", box.trace)
    started = box.start(*run, "--", "sh", "-c", script)
    box.finish(started, None)
    needs_layer(box, "fs")
    missing = box.value("SELECT coalesce(reason, '') FROM layers WHERE layer = 'fs'")
    if "mm_filemap_get_pages" in missing:
        raise Skipped(missing)
    rounds = 2 if started.returncode == 7 or "iomap_dio" in missing else 3
    read = sums_by(box, "name", f"layer = 'fs' AND file = '{box.dir / 'data'}'")["read"]
    check("read", (rounds * size, 0), (read[2], read[1]))
    moved = f"SELECT bytes_read, bytes_written FROM files WHERE path = '{box.dir / 'data'}'"
    check("in view files", [(rounds * size, 0)], box.rows(moved))
    if rounds == 3:
        beside = sums_by(box, "name", f"layer = 'fs' AND file = '{box.dir / 'beside'}'")
        check("written beside the page cache", {"write": (16, 0, size)}, {call: beside[call] for call in ("write",)})
        check_true(f"and not read: {beside}", "read" not in beside)
    written = sums_by(box, "name", f"layer = 'fs' AND file = '{box.dir / 'copy'}'").get("write")
    if not written:
        raise Skipped("the file system here tells nothing of writes")
    check("written", size, written[2])


def test_overlay(box: Box) -> None:
    """A file system that lies on another one: both tell."""
    box.needs_layer("syscall")
    for name in ("lower", "upper", "work", "merged"):
        (box.dir / name).mkdir()
    (box.dir / "lower" / "data").write_bytes(bytes(8192))
    mount = "mount -t overlay none -o lowerdir=lower,upperdir=upper,workdir=work merged || exit 7"
    run = (box.kit.fathom, "run", "-q", "--layers", "fs", "-o", box.trace, "--", "sh", "-c")
    script = "dd if=merged/data of=merged/out bs=4096 conv=fsync status=none"
    started = box.start("unshare", "-m", "sh", "-c", f'{mount}; exec "$@"', "sh", *run, script)
    box.finish(started, None)
    if started.returncode != 0:
        raise Skipped("no overlay can be mounted here")
    needs_layer(box, "fs")
    found = sums_by(box, "name", f"layer = 'fs' AND file LIKE '{box.dir}/merged/%'")
    wanted = {"read": (3, 0, 8192), "write": (2, 0, 8192), "fsync": (1, 0, 0)}
    check("on top", wanted, found)


def test_journal(box: Box) -> None:
    """A part of fsync is waiting for the journal, in a thread of the kernel's."""
    box.needs_layer("syscall")
    image, place = box.root / "image", box.root / "mounted"
    place.mkdir()
    image.write_bytes(b"")
    os.truncate(image, 32 << 20)
    made = subprocess.run(["mkfs.ext4", "-q", "-F", image], check=False) if shutil.which("mkfs.ext4") else None
    script = "for i in 1 2 3; do dd if=/dev/zero of=out$i bs=64k count=2 conv=fsync status=none; done"
    run = (box.kit.fathom, "run", "-q", "--layers", "fs", "--detail", "fs", "-o", box.trace, "--", "sh", "-c")
    inside = f'mount -o loop {image} {place} || exit 7; cd {place}; "$@"; end=$?; cd /; umount {place}; exit $end'
    started = box.start("unshare", "-m", "sh", "-c", inside, "sh", *run, script)
    box.finish(started, None)
    if made is None or made.returncode != 0 or started.returncode != 0:
        raise Skipped("no image of ext4 can be made and mounted here")
    needs_layer(box, "fs")
    inside = "j.tid = f.tid AND j.ts >= f.ts AND j.ts + j.dur <= f.ts + f.dur AND j.file = f.file"
    pairs = f"SELECT count(*) FROM events j JOIN events f ON {inside} WHERE j.name = 'journal' AND f.name = 'fsync'"
    waits = box.count("name = 'journal'")
    check_true(f"waits for the journal: {waits}", waits >= 1)
    check("each inside of a call", waits, box.value(pairs))
    rows = json.loads(box.fathom("report", box.trace, "explain", "--call", "fsync", "--format", "json"))
    found = [row["depth"] for row in rows["where_the_time_went"] if row["call"] == "journal"]
    check("a part of fsync", [1], found)
