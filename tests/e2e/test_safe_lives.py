# SPDX-License-Identifier: MIT
"""Processes that are many, deep, short or on their parent's memory: none is harmed or lost, the disk stays small."""

import os
import shutil
from pathlib import Path

from kit import Box, Skipped, check, check_true

LOOKS = "name = 'pread' AND size = 13"
SMALL = 24 << 20  # bytes on disk

# How the child is made: its reads, whether they must be there and not only be counted.
SHARING = {"vfork": 20, "waits": 20, "beside": 20, "files": 20, "storage": 0, "beside-storage": 0, "nested": 20}


def on_disk(directory: Path) -> int:
    """Files may go while we look."""
    total = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                total += (Path(folder) / name).lstat().st_blocks * 512
            except OSError:
                continue
    return total


def parent_of_all(box: Box) -> int:
    return int(box.value(f"SELECT pid FROM events WHERE {LOOKS} ORDER BY ts LIMIT 1"))


def test_children_on_their_parents_memory(box: Box) -> None:
    """Each is a process, ends as it would alone, and the thread that made it is recorded as before."""
    box.not_emulated("qemu-user makes a process of its own of each")
    for how, reads in SHARING.items():
        box.record(box.kit.victim("sharing"), how, options=("--force",))
        parent = parent_of_all(box)
        check(f"{how}: reads of the parent", 1100, box.count(f"{LOOKS} AND pid = {parent}"))
        lost = box.losses()
        check(f"{how}: reads, or losses", 1100 + reads, box.count(LOOKS) + lost)
        if how in ("vfork", "waits", "nested"):
            check(f"{how}: reads of a child that runs in its parent's place", reads, box.count(LOOKS) - 1100)
        ended = f"SELECT count(*) FROM processes WHERE exit = 7 AND ppid = {parent}"
        check(f"{how}: the child is a process", 1, box.value(ended))


def test_reads_of_a_vforked_child_name_their_file(box: Box) -> None:
    box.record(box.kit.victim("sharing"), "vfork")
    check("reads with a name", 1120, box.count(f"{LOOKS} AND file = '{box.dir}/looked-at'"))
    check("vforks", 1, box.count("name = 'vfork' AND ret > 0"))


def test_a_child_that_a_vforked_child_forks(box: Box) -> None:
    box.not_emulated("qemu-user wipes no pages (MADV_WIPEONFORK), by which such a child is found")
    box.record(box.kit.victim("sharing"), "forks")
    check("reads", 1140, box.count(LOOKS))
    check("processes that read", 3, box.value(f"SELECT count(DISTINCT pid) FROM events WHERE {LOOKS}"))
    check("losses", 0, box.losses())


def test_more_children_on_one_memory_than_are_kept_account_of(box: Box) -> None:
    box.not_emulated("qemu-user makes a process of its own of each")
    box.record(box.kit.victim("sharing"), "many", 40)
    parent = parent_of_all(box)
    check("reads of the parent", 1100, box.count(f"{LOOKS} AND pid = {parent}"))
    check("reads, or losses", 1100 + 40 * 20, box.count(LOOKS) + box.losses())


def test_many_children_leave_a_small_spool(box: Box) -> None:
    """Where nobody drains, too: children share pools, and hand their segments on."""
    number = 3000 if box.kit.full else 600
    box.finish(box.start(box.kit.victim("lives"), "forks", number, env=box.unsupervised()))
    check_true(f"{on_disk(box.trace)} bytes", on_disk(box.trace) < SMALL)
    check("reads", number + 1, box.count(LOOKS))
    check("losses", 0, box.losses())


def test_programs_one_after_the_other_join_a_pool(box: Box) -> None:
    box.not_emulated("qemu-user follows no exec")
    number = 500 if box.kit.full else 60
    box.finish(box.start(box.kit.victim("lives"), "vforks", number, env=box.unsupervised()))
    check_true(f"{on_disk(box.trace)} bytes", on_disk(box.trace) < SMALL)
    check("pools", 1, len(list((box.trace / "spool").glob("*.pool"))))
    check("reads", 2 * number, box.count(LOOKS))
    check("losses", 0, box.losses())


def test_any_umask(box: Box) -> None:
    """What the library makes is its owner's to use, and his alone."""
    command = ["sh", "-c", f"umask 0777 && exec {box.kit.victim('lives')} forks 3"]
    box.finish(box.start(*command, env=box.unsupervised()))
    spool = box.trace / "spool"
    check("directories", [0o700, 0o700], [path.stat().st_mode & 0o777 for path in (box.trace, spool)])
    modes = {path.name: path.stat().st_mode & 0o777 for path in spool.iterdir()}
    check("files", dict.fromkeys(modes, 0o600), modes)
    check("reads", 4, box.count(LOOKS))


def test_spools_of_others_are_not_joined(box: Box) -> None:
    """What another user made, what others can write to, and what lies behind a link: the program runs unrecorded."""
    box.not_emulated("it needs another user")
    if os.geteuid() != 0:
        raise Skipped("only root can give files away")
    aim = box.dir / "aim"
    aim.mkdir(mode=0o700)
    for spoil in (
        lambda spool: os.chown(spool, 65534, 65534),
        lambda spool: spool.chmod(0o777),
        lambda spool: (spool.rmdir(), spool.symlink_to(aim)),
    ):
        trace = box.dir / "theirs.fathom"
        (trace / "spool").mkdir(parents=True)
        (trace / "spool").chmod(0o700)
        spoil(trace / "spool")
        box.run("/bin/true", env={**box.unsupervised(), "FATHOM_OUT": str(trace)})
        check("what was made", [], [*(trace / "spool").iterdir(), *aim.iterdir()])
        shutil.rmtree(trace)
