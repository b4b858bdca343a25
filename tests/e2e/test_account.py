# SPDX-License-Identifier: MIT
"""The account of all threads' time: it is whole for any program, waits have their cause, and rules speak of them."""

import json
import resource
import shutil
import subprocess
import sys
from typing import Any

from jobs import may_take
from kit import Box, Skipped, check, check_true

MS = 1_000_000
CPU = ("--layers", "+cpu")
MOST_UNEXPLAINED = 2.0  # percent of all threads' lives
LIFE = 'SELECT sum("end" - start), count(*) FROM threads'
ACCOUNT = 'SELECT state, cause, name, "time", share FROM "time"'
MISSED = "SELECT coalesce(sum(\"count\"), 0) FROM losses WHERE layer = 'cpu'"
# Of what a program waited, what it could have run meanwhile is no waiting: on a machine with many others that is much.
SLACK = 0.1
ENDS = 10 * MS

SERVER = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def serve():
    one, _ = server.accept()
    with one:
        while asked := one.recv(64):
            one.sendall(asked * 2)
thread = threading.Thread(target=serve)
thread.start()
with socket.create_connection(server.getsockname()) as client:
    for _ in range(3000):
        client.sendall(b"x" * 32)
        client.recv(64)
thread.join()
"""
NUMPY = "import numpy as n; a = n.ones((500, 500)); [a @ a for _ in range(20)]"


STATE = "SELECT state, reason FROM layers WHERE layer = 'cpu'"


def record(box: Box, *command: object, with_stacks: bool = False) -> bytes:
    """`with_stacks`: what threads wait in, which only who may see the kernel is told."""
    out = box.record(*command, options=CPU)
    state, reason = box.rows(STATE)[0]
    if state not in (("on",) if with_stacks else ("on", "partial")):
        raise Skipped(str(reason))
    return out


def check_whole(box: Box) -> list[tuple[Any, ...]]:
    """Nothing is left out, nothing counts twice, and next to nothing is unexplained."""
    ((life, threads),), rows = box.answers(LIFE, ACCOUNT)
    check_true(f"anything lived: {life}", int(life) > 0)
    apart = abs(int(life) - sum(int(row[3]) for row in rows))
    check_true(f"the rows are the lives of all {threads} threads: {apart} ns apart", apart <= MS)
    check("rows below zero", [], [row for row in rows if int(row[3]) < 0])
    check("the last row", "unexplained", rows[-1][0])
    if not box.value(MISSED):  # on a machine that is too busy to take all stacks, their waits are unexplained, and told
        check_true(f"unexplained: {rows[-1]}", float(rows[-1][4]) <= MOST_UNEXPLAINED)
    for row in json.loads(box.fathom("report", box.trace, "threads", "--top", "0", "--format", "json"))["threads"]:
        parts = sum(int(row[state] or 0) for state in ("running", "waiting", "ready"))
        check_true(f"running + waiting + ready is the life of {row}", abs(parts - int(row["wall"])) <= MS)
    return rows


def rules_of(box: Box) -> dict[str, dict[str, Any]]:
    return {row["rule"]: row for row in json.loads(box.fathom("show", box.trace, "--format", "json"))}


# What these rules look for is none of the ordinary; that threads wait for a CPU is, where others use the machine.
OF_TIME = {"lock-contention", "sleep-in-a-loop", "children-in-turn", "waits-for-server", "page-faults"}


def check_ordinary(box: Box, *command: object, may_hear: frozenset[str] = frozenset()) -> None:
    record(box, *command)
    check_whole(box)
    check("advice about an ordinary program", set(), (OF_TIME - may_hear) & rules_of(box).keys())


def test_threads_in_cpp(box: Box) -> None:
    check_ordinary(box, box.kit.victim("threads_at_work"))


def test_a_program_that_mostly_sleeps(box: Box) -> None:
    check_ordinary(box, "sh", "-c", "sleep 0.2; sleep 0.2")


def test_a_shell_pipeline(box: Box) -> None:
    check_ordinary(box, "sh", "-c", "seq 100000 | sort -rn | tail -n 1")
    names = {name for _, cause, name, _, _ in box.rows(ACCOUNT) if cause == "child"}
    check_true(f"the shell waits for what it started: {names}", bool(names))
    started = {"seq", "sort", "tail"}
    check("other children", set(), {name.partition(": ")[2] for name in names if ": " in name} - started)


def test_a_compiler(box: Box) -> None:
    lines = (f"double f{i}(double x) {{ return x * x + {i}; }}" for i in range(1500))
    (box.dir / "made.c").write_text("\n".join(lines))
    check_ordinary(box, "cc", "-O1", "-c", "-o", "made.o", "made.c")


def test_a_server_under_load(box: Box) -> None:
    check_ordinary(box, sys.executable, "-c", SERVER)


def test_redis_under_load(box: Box) -> None:
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        raise Skipped("no redis here")
    socket = box.root / "redis"
    serve = f"redis-server --port 0 --unixsocket {socket} --save '' --daemonize no > log & server=$!"
    load = f"until [ -S {socket} ]; do sleep 0.02; done; redis-benchmark -s {socket} -q -n 5000 -c 8 -t set,get > log2"
    stop = f"redis-cli -s {socket} shutdown nosave; wait $server"
    # A client that does nothing but ask does wait for its server.
    check_ordinary(box, "sh", "-c", f"{serve}; {load}; {stop}", may_hear=frozenset({"waits-for-server"}))


def has_numpy(python: str) -> bool:
    return subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0


def test_python_with_numpy(box: Box) -> None:
    python = next(filter(has_numpy, (sys.executable, "/usr/bin/python3")), None)
    if python is None:
        raise Skipped("no numpy here")
    check_ordinary(box, python, "-c", NUMPY)


# What waits_for.c waits for: cause, and what the name must tell.
WAITS = {
    "lock": ("lock", "pthread_mutex_lock in take_lock"),
    "condition": ("condition", "pthread_cond_wait in wait_once"),
    "join": ("join", "in wait_once"),
    "sleep": ("sleep", "usleep in wait_once"),
    "poll": ("poll", "epoll_wait: pipe from waits_for"),
    "pipe": ("pipe", "read: pipe from waits_for"),
    "socket": ("socket", "read"),
    "child": ("child", "waitpid: waits_for"),
}


def check_waits(box: Box, what: str, name: str, out: bytes) -> None:
    waited, ready = map(int, out.split())
    cause = WAITS[what][0]
    rows = [row for row in box.rows('SELECT name, "time", ready FROM waits WHERE cause = \'' + cause + "'") if row[0]]
    mine = sum(int(time) for text, time, _ in rows if name in text)
    least = (1 - SLACK) * (waited - ready) - ENDS
    check_true(f"{name}: {mine} of {waited} ns ({ready} ready), {rows}", least <= mine <= waited + ENDS)


def test_waits_have_a_cause_and_a_name(box: Box) -> None:
    for what, (_, name) in WAITS.items():
        shutil.rmtree(box.trace, ignore_errors=True)
        check_waits(box, what, name, record(box, box.kit.victim("waits_for"), what, with_stacks=True))


def test_waits_of_a_static_program(box: Box) -> None:
    """No library is in it: the stacks alone tell."""
    for what in ("lock", "sleep", "pipe", "child"):
        shutil.rmtree(box.trace, ignore_errors=True)
        name = {"pipe": "read in wait_once", "child": "wait4: waits_for"}.get(what, WAITS[what][1])
        check_waits(box, what, name, record(box, box.kit.victim("waits_for", "-static"), what, with_stacks=True))


def test_a_lock_that_two_threads_want(box: Box) -> None:
    record(box, box.kit.victim("waits_for"), "fight", with_stacks=True)
    advice = rules_of(box).get("lock-contention")
    check_true(f"the lock is told of: {box.rows(ACCOUNT)}", advice is not None)
    check_true(
        f"and where it is wanted: {advice}", advice is not None and "pthread_mutex_lock in use" in advice["says"]
    )
    text = box.fathom("report", box.trace).decode()
    check_true("people read it", "! Threads wait for a lock (" in text)
    shutil.rmtree(box.trace)
    record(box, box.kit.victim("waits_for"), "share")
    check("two locks that nobody fights for", set(), {"lock-contention"} & rules_of(box).keys())


def test_a_loop_that_sleeps(box: Box) -> None:
    loop = "import time\nfor _ in range({}): time.sleep({})"
    record(box, sys.executable, "-c", loop.format(120, 0.01), with_stacks=True)
    check_true(f"it is told of: {box.rows(ACCOUNT)[:5]}", "sleep-in-a-loop" in rules_of(box))
    shutil.rmtree(box.trace)
    record(box, sys.executable, "-c", loop.format(4, 0.2))
    check("four long naps are none", set(), {"sleep-in-a-loop"} & rules_of(box).keys())


@may_take(900)
def test_many_threads_and_processes(box: Box) -> None:
    """Every life adds up, and the recorder does not grow with them. In full: 1000 threads, 10 000 processes."""
    threads, processes = (1000, 10_000) if box.kit.full else (60, 150)
    out = record(box, box.kit.victim("lives_of_threads"), threads)
    check_whole(box)
    told = {int(tid): int(ran) for tid, ran in (line.split() for line in out.decode().splitlines())}
    rows = json.loads(box.fathom("report", box.trace, "threads", "--top", "0", "--format", "json"))["threads"]
    ran = {int(row["tid"]): int(row["running"]) for row in rows}
    check("threads", threads, len(told.keys() & ran.keys()))
    # What the kernel counts as run, as far as the thread could tell before its end.
    apart = {tid: (ns, ran[tid]) for tid, ns in told.items() if not ns - MS <= ran[tid] <= 1.05 * ns + 5 * MS}
    check("threads whose CPU time is not what /proc/PID/schedstat says", {}, apart)
    shutil.rmtree(box.trace)
    record(box, "sh", "-c", f"i=0; while [ $i -lt {processes} ]; do /bin/true; i=$((i+1)); done")
    check_whole(box)
    check("processes", processes + 1, box.value("SELECT count(DISTINCT pid) FROM processes"))
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    check_true(f"memory of the recorder: {most} MiB", most < 600)
