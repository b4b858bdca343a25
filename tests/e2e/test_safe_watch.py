# SPDX-License-Identifier: MIT
"""The daemon's door: nobody keeps others out, and who is sent away is told."""

import os
import socket
import struct
from pathlib import Path

from kit import Box, Skipped, check, check_true
from test_watch import MAGIC, TOTAL, WORK, Program, watching

TURN = "hooks of the kernel"


def crowd(path: Path, count: int) -> list[socket.socket]:
    """Callers of another user that ask nothing."""
    callers = []
    path.parent.chmod(0o755)
    os.chdir(path.parent)  # folders above are closed to others
    os.seteuid(4242)
    try:
        for _ in range(count):
            callers.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            callers[-1].connect(path.name)
    finally:
        os.seteuid(0)
    return callers


def test_a_crowd_of_callers(box: Box) -> None:
    """Who comes often and asks nothing crowds out their own callers alone; those sent away are told at once."""
    if os.geteuid() != 0:
        raise Skipped("only root can act as another user")
    with watching(box) as daemon:
        first = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        first.connect(daemon.env["FATHOM_SOCKET"])
        callers = crowd(Path(daemon.env["FATHOM_SOCKET"]), 300)
        first.send(struct.pack("<IHHiI", MAGIC, 1, 4, 0, 0))
        first.settimeout(20)
        check("an answer for who came before", (MAGIC, 1, 0), struct.unpack("<IHH", first.recv(10_000)[:8]))
        program = Program(box, daemon)
        program.tell(f"work {WORK}")
        check("a program that comes after", 1, daemon.status()["connected"])
        program.end()
    for caller in callers:
        caller.close()
    check("questions", 2 * WORK, int(box.value(TOTAL)))
    lost = box.rows('SELECT reason, "count" FROM losses')
    told = sum(count for reason, count in lost if reason.startswith("callers that did not say in time"))
    check_true(f"those sent away are told: {lost}", 300 - 32 <= told <= 300)
