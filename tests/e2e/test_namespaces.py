# SPDX-License-Identifier: MIT
"""Pid namespaces: one process is one row with the machine's pid, whatever it calls itself."""

from kit import Box, check, check_true
from test_safe_spool import unshared

READS = "name = 'pread' AND size = 100"
NUMBERS = "SELECT DISTINCT nspid FROM processes WHERE name = 'reader' ORDER BY ALL"
LAYERS = ("--layers", "+syscall")


def expect_one_family(box: Box) -> None:
    """Rows of one pid are one process, and every parent but the recorder is a row."""
    numbers = "SELECT count(*) FROM (SELECT pid FROM processes GROUP BY pid HAVING count(DISTINCT nspid) > 1)"
    strangers = "SELECT count(*) FROM processes WHERE ppid IS NULL OR ppid NOT IN (SELECT pid FROM processes)"
    ended = 'SELECT count(*) FROM processes WHERE "end" IS NULL OR "end" < start'
    check(
        "pids of two numbers, rows without a parent, without an end", [0, 1, 0], box.values(numbers, strangers, ended)
    )
    check("losses", 0, box.losses())


def test_pids_are_those_of_the_machine(box: Box) -> None:
    """Also in a namespace inside another one, where both call their first process 1."""
    box.not_emulated("qemu-user follows no exec")
    reader = box.kit.victim("reader")
    inner = " ".join((*unshared(box, "--mount-proc"), "sh", "-c", f"'{reader} 30; {reader} 40; exit 0'"))
    box.record(*unshared(box, "--mount-proc"), "sh", "-c", f"{reader} 10; {reader} 20; {inner}; exit 0")
    expect_one_family(box)
    check("numbers inside", [(2,), (3,)], box.rows(NUMBERS))
    pids, of_events, smallest = box.values(
        "SELECT count(DISTINCT pid) FROM processes WHERE name = 'reader'",
        f"SELECT list(n ORDER BY n) FROM (SELECT count(*) AS n FROM events WHERE {READS} GROUP BY pid, tid)",
        "SELECT min(pid) FROM processes",
    )
    check("readers, reads of each", (4, [10, 20, 30, 40]), (pids, of_events))
    check_true(f"no pid is a namespace's own: the least is {smallest}", smallest > 10)


def test_killed_with_their_namespace(box: Box) -> None:
    """When the first process of a namespace ends, the kernel kills the others: nobody waits for them."""
    box.not_emulated("qemu-user follows no exec")
    left = f"{box.kit.victim('reader')} 50; sleep 60 & sleep 0.05; exit 3"
    box.record(*unshared(box, "--mount-proc"), "sh", "-c", left, status=3)
    rows = box.rows("SELECT name, nspid, exit FROM processes WHERE name IN ('reader', 'sleep') ORDER BY nspid")
    check("programs inside", [("reader", 2, 0), ("sleep", 3, None), ("sleep", 4, 0)], rows)


def test_layers_agree_on_threads(box: Box) -> None:
    """The library and the kernel tell of one process and one thread by the same numbers."""
    box.needs_layer("syscall")
    (box.dir / "data").write_bytes(bytes(4096))
    threads = box.kit.victim("threads")
    box.record(*unshared(box, "--mount-proc"), "sh", "-c", f"{threads} storm 3; exit 0", options=LAYERS)
    expect_one_family(box)
    of_library = "SELECT pid, tid, count(*) FROM events WHERE name = 'pread' AND size = 13 GROUP BY ALL ORDER BY ALL"
    of_kernel = (
        "SELECT pid, tid, CAST(sum(calls) AS BIGINT) FROM intervals WHERE name = 'pread64' AND file LIKE '%/data'"
        " GROUP BY ALL ORDER BY ALL"
    )
    rows = "SELECT pid, tid, 1 FROM threads WHERE tid != pid ORDER BY ALL"
    library, kernel, lives = box.answers(of_library, of_kernel, rows)
    check("threads that read", 3, len(library))
    check("reads by thread in both layers", library, kernel)
    check("rows of threads", library, lives)


def test_without_a_recorder(box: Box) -> None:
    """Nobody tells the machine's pid then. Both namespaces have a process 2: two rows, apart."""
    box.not_emulated("qemu-user follows no exec")
    reader = box.kit.victim("reader")
    twice = [*unshared(box, "--mount-proc"), "sh", "-c", f"{reader} 10; exit 0"]
    for _ in range(2):
        box.run(*twice, env=box.unsupervised())
    box.fathom("collect", box.trace)
    rows = box.rows("SELECT pid, nspid, image FROM processes WHERE name = 'reader'")
    check("readers", [(2, 2, 1), (2, 2, 1)], rows)
    check("reads", 20, box.count(READS))


def test_another_network_too(box: Box) -> None:
    """Nobody finds a socket with an abstract name from another network namespace: the recorder has one with a path."""
    box.not_emulated("qemu-user follows no exec")
    reader = box.kit.victim("reader")
    box.record(*unshared(box, "--mount-proc", "--net"), "sh", "-c", f"{reader} 10; exit 0")
    expect_one_family(box)
    check("numbers inside", [(2,)], box.rows(NUMBERS))
    smallest = box.value("SELECT min(pid) FROM processes")
    check_true(f"no pid is a namespace's own: the least is {smallest}", smallest > 10)
