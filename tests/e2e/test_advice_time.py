# SPDX-License-Identifier: MIT
"""Rules about threads' time, on real programs: each is told to the program that has the fault, and not to its twin that
does the same without it."""

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

from kit import Box, Skipped, check_true

ALONE = "others who use the CPUs turn waiting into being ready"


def rules(box: Box, *command: object, options: tuple[str, ...] = ()) -> set[str]:
    """What is told to a program."""
    box.not_emulated("performance events are of the emulator")
    first = ("nice", "-n", "-15") if os.geteuid() == 0 else ()  # before others who use the CPUs
    box.run(*first, box.kit.fathom, "run", "-q", "--force", *options, "-o", box.trace, "--", *command)
    state, reason = box.rows("SELECT state, reason FROM layers WHERE layer = 'cpu'")[0]
    if state not in ("on", "partial") or box.value("SELECT any_value(rung) FROM processes") == "proc":
        raise Skipped(f"layer cpu is {state}: {reason}")
    return {one["rule"] for one in json.loads(box.fathom("show", box.trace, "--format", "json"))}


CHILD = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done"
IN_TURN = f"for n in $(seq 24); do sh -c '{CHILD}'; done; :"
AT_ONCE = f"for n in $(seq 24); do sh -c '{CHILD}' & done; wait"


def test_children_in_turn(box: Box) -> None:
    """Where others need the CPUs, more at once would not help, and nothing is said."""
    if (os.cpu_count() or 1) < 2:
        raise Skipped("one CPU has no room for two")
    told = rules(box, "sh", "-c", IN_TURN)
    busy = float(box.value("SELECT coalesce(avg(value), 0) FROM counters WHERE name = 'cpu_busy'"))
    if "children-in-turn" not in told and busy >= 90:
        raise Skipped(f"others use the CPUs: {busy} % busy")
    check_true(f"children that run in turn: {told}", "children-in-turn" in told)
    told = rules(box, "sh", "-c", AT_ONCE)
    check_true(f"children that run at once: {told}", "children-in-turn" not in told)


class Server:
    """Answers each packet of questions with one byte for each, 4 ms later."""

    def __init__(self, path: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            client, _ = self.listener.accept()
            with client:
                while questions := client.recv(4096):
                    time.sleep(0.004)
                    client.sendall(questions)


CLIENT = """
import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
for _ in range(int(sys.argv[2])):
    os.write(server.fileno(), b"?" * int(sys.argv[3]))
    left = int(sys.argv[3])
    while left: left -= len(os.read(server.fileno(), 4096))
"""


def test_waits_for_server(box: Box) -> None:
    """Three hundred questions, one by one or all at once. By read(), since layer posix does not see recv()."""
    path = box.root / "server"
    Server(path)
    ask = (sys.executable, "-S", "-E", "-c", CLIENT, path)
    told = rules(box, *ask, 300, 1)
    check_true(f"one question at a time: {told}", "waits-for-server" in told)
    told = rules(box, *ask, 1, 300)
    check_true(f"all at once: {told}", "waits-for-server" not in told)


# (The other one has the longest of all sleeps, and only one.)
LOOKS = """
import os, sys, time
pid = os.fork()
if pid == 0:
    time.sleep(1.5)
    os._exit(0)
if sys.argv[1] == "looks":
    while os.waitpid(pid, os.WNOHANG) == (0, 0): time.sleep(0.005)
else:
    os.waitpid(pid, 0)
"""


def test_sleep_in_a_loop(box: Box) -> None:
    """Who looks for the end of a child again and again, and who waits for it."""
    script = (sys.executable, "-S", "-E", "-c", LOOKS)
    told = rules(box, *script, "looks")
    check_true(f"looking again and again: {told}", "sleep-in-a-loop" in told)
    told = rules(box, *script, "waits")
    check_true(f"waiting: {told}", "sleep-in-a-loop" not in told)


FILLS = """
import sys, time
SIZE = 64 << 20
kept = memoryview(bytearray(SIZE))
source = b"y" * SIZE
while time.process_time() < 1.5:
    if sys.argv[1] == "new": fresh = b"x" * SIZE; del fresh
    else: kept[:] = source
"""


def test_page_faults(box: Box) -> None:
    """Who fills new memory each time, and who uses it again."""
    script = (sys.executable, "-S", "-E", "-c", FILLS)
    told = rules(box, *script, "new")
    known = box.value("""SELECT count(*) FROM frames WHERE "function" = 'handle_mm_fault'""")
    if "page-faults" not in told and int(known) == 0:
        raise Skipped("the kernel's functions are hidden here")
    check_true(f"new memory: {told}", "page-faults" in told)
    told = rules(box, *script, "again")
    check_true(f"the same memory: {told}", "page-faults" not in told)


def test_few_instructions_per_cycle(box: Box) -> None:
    """Who reads all over memory, and who stays in the cache."""
    program, count = box.kit.victim("chases"), ("--count", "cycles:u,instructions:u")
    told = rules(box, program, "far", options=count)
    if int(box.value("SELECT count(DISTINCT name) FROM counters WHERE layer = 'cpu' AND value > 0")) < 2:
        raise Skipped(str(box.value("SELECT reason FROM layers WHERE layer = 'cpu'")))
    check_true(f"all over memory: {told}", "few-instructions-per-cycle" in told)
    told = rules(box, program, "near", options=count)
    check_true(f"in the cache: {told}", "few-instructions-per-cycle" not in told)
