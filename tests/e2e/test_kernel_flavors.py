# SPDX-License-Identifier: MIT
"""Layers of the kernel by what older kernels have, on this one: whatever stands in for a hook counts the same."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import test_kernel
import test_watch
from kit import Box, Skipped, check, check_true
from test_kernel import SYSCALL

TURN = "hooks of the kernel"


@contextmanager
def without(box: Box, what: str) -> Iterator[None]:
    """As if this kernel had none of it."""
    box.needs_layer("syscall")
    os.environ["FATHOM_KERNEL_WITHOUT"] = what
    try:
        yield
    finally:
        del os.environ["FATHOM_KERNEL_WITHOUT"]


def only_in_full(box: Box) -> None:
    if not box.kit.full:
        raise Skipped("--full; programs that count the same way are unit-tested on every flavor")


def by_raw_tracepoints(box: Box, test: Callable[[Box], None]) -> None:
    with without(box, "typed"):
        test(box)
        check("hooks", "raw tracepoints", box.info()["facts"]["kernel.hooks"])


def test_calls(box: Box) -> None:
    by_raw_tracepoints(box, test_kernel.test_calls_by_thread_and_process)


def test_detail(box: Box) -> None:
    only_in_full(box)
    by_raw_tracepoints(box, test_kernel.test_detail)


def test_layers_below(box: Box) -> None:
    by_raw_tracepoints(box, test_kernel.test_layers_below)


def test_what_the_flusher_writes(box: Box) -> None:
    only_in_full(box)
    by_raw_tracepoints(box, test_kernel.test_what_the_flusher_writes)


def test_control_group(box: Box) -> None:
    by_raw_tracepoints(box, test_kernel.test_control_group)


def test_without_tracefs(box: Box) -> None:
    by_raw_tracepoints(box, test_kernel.test_without_kernel_types)


def test_outliving_process(box: Box) -> None:
    by_raw_tracepoints(box, test_kernel.test_outliving_process)


def test_no_room(box: Box) -> None:
    only_in_full(box)
    by_raw_tracepoints(box, test_kernel.test_no_room)


def test_daemon(box: Box) -> None:
    with without(box, "typed"):
        test_watch.test_attach_and_detach(box)


def test_same_rows(box: Box) -> None:
    """What a program does that does the same each time: every row of it, by both kinds of hooks."""
    box.needs_layer("syscall")
    script = (
        "dd if=/dev/zero of=out bs=64K count=8 conv=fsync status=none; dd if=out of=copy bs=512 status=none; rm out"
    )
    layers = ("--layers", "syscall,fs,net")
    rows = "layer, name, file, CAST(sum(calls) AS BIGINT), CAST(sum(errors) AS BIGINT), CAST(sum(bytes) AS BIGINT)"
    mine = f"(file LIKE '{box.dir}/%' OR file LIKE '/dev/%') AND name NOT IN ('writeback', 'truncate')"
    found = []
    for what in ("", "typed"):
        box.trace = box.root / f"without-{what}.fathom"
        with without(box, what):
            box.record("sh", "-c", script, options=layers)
        check("losses", 0, box.losses())
        check("no cost is known of", "fs, net", box.info()["facts"]["kernel.cost_not_measured"])
        found.append(box.rows(f"SELECT {rows} FROM intervals WHERE {mine} GROUP BY ALL ORDER BY ALL"))
    check("rows of raw tracepoints", found[0], found[1])
    check_true(f"rows: {found[0]}", len(found[0]) >= 10)


def test_thread_that_begins_a_program(box: Box) -> None:
    """It takes over the number of its process."""
    (box.dir / "data").write_bytes(bytes(5000))
    begin = "threading.Thread(target=lambda: os.execvp('cat', ['cat', 'data'])).start()"
    for what in ("", "typed"):
        box.trace = box.root / f"without-{what}.fathom"
        with without(box, what):
            box.record("python3", "-c", f"import os, threading; {begin}; threading.Event().wait()", options=SYSCALL)
        read = f"SELECT pid = tid, sum(bytes) FROM intervals WHERE name = 'read' AND file = '{box.dir}/data' GROUP BY 1"
        check("bytes by number", [(True, 5000)], box.rows(read))
        check("losses", 0, box.losses())


def test_functions(box: Box) -> None:
    """By sessions, by many probes at once, one by one."""
    only_in_full(box)
    said = set()
    for what in ("", "sessions", "sessions,multi", "typed"):
        box.trace = box.root / f"without-{what}.fathom"
        with without(box, what):
            test_kernel.test_functions(box)
        said.add(box.info()["facts"]["kernel.user.hooks"])
    check_true(f"ways: {said}", "probes one by one" in said and len(said) > 1)


def test_nothing_is_left(box: Box) -> None:
    """Where every way is left out, one line says so."""
    with without(box, "fentry,kprobes"):
        command = (box.kit.fathom, "run", "--layers", "vfs", "-o", box.trace, "--", "touch", "made")
        _, said = box.finish(box.start(*command), status=3)
    check_true(f"one line: {said!r}", said.count(b"\n") == 1 and b"vfs" in said)
    check("nothing ran", False, (box.dir / "made").exists())


def test_two_privileges(box: Box) -> None:
    """CAP_BPF and CAP_PERFMON are enough, on both flavors; one of them is not, and that is said."""
    if os.geteuid() != 0:
        raise Skipped("only root can drop what root may")
    run = (box.kit.fathom, "run", "-q", "--layers", "syscall,sched,block", "-o")
    for what in ("", "typed"):
        with without(box, what):
            box.trace = box.root / f"without-{what}.fathom"
            box.run(*only("bpf", "perfmon"), *run, box.trace, "--", "true")
            check_true("calls", box.value("SELECT sum(calls) FROM intervals WHERE layer = 'syscall'") > 10)
            for one in ("bpf", "perfmon"):
                _, said = box.finish(box.start(*only(one), *run, box.root / "x", "--", "true"), status=3)
                check_true(f"only {one}: {said!r}", said.count(b"\n") == 1 and b"CAP_BPF and CAP_PERFMON" in said)


def only(*names: str) -> tuple[str, ...]:
    some = ",".join(["-all", *(f"+{name}" for name in names)])
    return ("setpriv", f"--bounding-set={some}", f"--inh-caps={some}")
