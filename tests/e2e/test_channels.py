# SPDX-License-Identifier: MIT
"""Pipes, sockets and terminals are no files: each event says what its descriptor leads to."""

import json
import re
import sys
from pathlib import Path

from kit import Box, check, check_true

PIPELINE = "seq 1 20000 | sort -rn | tail -n 1"
PEERS = "SELECT DISTINCT program, category, args['peer'] FROM events WHERE bytes > 0 AND file IS NULL ORDER BY ALL"

# Sizes tell the channel: 101 through a socket pair, 102 and 103 by TCP, 104 to a terminal, 105 through a socket with a
# path, 8 of an eventfd.
CHANNELS = """
import os, socket, sys
one, other = socket.socketpair()
os.write(one.fileno(), bytes(101))
for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, "channel.sock")):
    server = socket.socket(family)
    server.bind(address)
    server.listen(1)
    client = socket.socket(family)
    client.connect(server.getsockname())
    accepted = server.accept()[0]
    if family == socket.AF_INET:
        os.write(client.fileno(), bytes(102))
        os.write(accepted.fileno(), bytes(103))
        print(server.getsockname()[1], client.getsockname()[1], flush=True)
    else:
        os.write(client.fileno(), bytes(105))
master, slave = os.openpty()
os.write(slave, bytes(104))
os.write(os.eventfd(0), (1).to_bytes(8, sys.byteorder))
"""

# A pipe that the parent used before it forked two children, who go on with it.
FAMILY = """
import os
source, target = os.pipe()
os.write(target, bytes(11))
pids = []
for size in (12, 13):
    pid = os.fork()
    if pid == 0:
        os.write(target, bytes(size))
        os.read(source, 11 if size == 12 else 25)
        os._exit(0)
    os.waitpid(pid, 0)
    pids.append(pid)
print(os.getpid(), *pids)
"""

TWO_PIPES = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
libc.fwrite.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
one, other = os.pipe(), os.pipe()
libc.fwrite(bytes(5000), 5000, 1, libc.fdopen(one[1], b"w"))
os.write(other[1], bytes(7))
"""


def without_pids(peer: str) -> str:
    return re.sub(r"\(pid \d+\)", "(pid N)", peer)


def test_a_pipeline_names_its_neighbours(box: Box) -> None:
    box.record("sh", "-c", PIPELINE)
    rows = box.rows(PEERS)
    wanted = [
        ("seq", "write", "pipe to sort (pid N)"),
        ("sort", "read", "pipe from seq (pid N)"),
        ("sort", "write", "pipe to tail (pid N)"),
        ("tail", "read", "pipe from sort (pid N)"),
    ]
    pipes = [(program, category, without_pids(peer)) for program, category, peer in rows if " (pid" in peer]
    check("peers", wanted, pipes)
    pids = dict(box.rows("SELECT name, pid FROM processes WHERE name IN ('seq', 'sort', 'tail')"))
    check_true(f"{rows} have the pids of {pids}", any(f"pipe to sort (pid {pids['sort']})" == row[2] for row in rows))


def test_the_same_in_sums(box: Box) -> None:
    """`summary` and the report of a part of the run say the same as the events."""
    box.record("sh", "-c", PIPELINE)
    sums = "SELECT name, peer, CAST(sum(bytes) AS BIGINT) FROM {} WHERE peer LIKE 'pipe %' GROUP BY ALL ORDER BY ALL"
    events = "(SELECT *, args['peer'] AS peer FROM events)"
    check("sums", box.rows(sums.format(events)), box.rows(sums.format("summary")))
    told = [
        json.loads(box.fathom("report", box.trace, "files", "--format", "json", *options))
        for options in ((), ("--where", "pid > 0"))
    ]
    tables = [[rows for rows in one.values() if isinstance(rows, list) and rows and "peer" in rows[0]] for one in told]
    check("tables of pipes", [1, 1], [len(found) for found in tables])
    check("a part that is the whole", tables[0], tables[1])
    paths = [path for (path,) in box.rows("SELECT path FROM files")]
    check("files that are pipes", [], [path for path in paths if not path.startswith("/") or "pipe" in path])


def test_sockets_and_terminals(box: Box) -> None:
    server, client = box.record(sys.executable, "-c", CHANNELS).split()
    rows = dict(box.rows("SELECT size, args['peer'] FROM events WHERE name = 'write' AND file IS NULL"))
    wanted = {
        101: "socket pair",
        102: f"socket 127.0.0.1:{server.decode()}",
        103: f"socket 127.0.0.1:{client.decode()}",
        104: "tty",
        105: "socket channel.sock",
        8: "eventfd",
    }
    check("peers", wanted, {size: peer for size, peer in rows.items() if size in wanted})


def test_children_that_go_on_with_a_pipe(box: Box) -> None:
    parent, *children = map(int, box.record(sys.executable, "-c", FAMILY).split())
    name = Path(sys.executable).resolve().name
    asked = "SELECT pid, size, args['peer'] FROM events WHERE name = 'write' AND size IN (11, 12, 13) ORDER BY size"
    readers = [f"pipe to {name} (pid {pid})" for pid in (children[0], children[1], children[0])]
    check("writers", list(zip((parent, *children), (11, 12, 13), readers, strict=True)), box.rows(asked))


def test_bytes_of_all_pipes_count(box: Box) -> None:
    """Output by stdio to one pipe, and a word by a system call to another."""
    box.record(sys.executable, "-c", TWO_PIPES)
    check("bytes", [(5007,)], box.rows("SELECT sum(bytes) FROM moved WHERE category = 'write' AND bytes IN (5000, 7)"))


def test_words_tell_the_pipe(box: Box) -> None:
    for name in "abc":
        (box.dir / name).write_bytes(bytes(5000))
    box.record("sh", "-c", "(sleep 0.3; echo x) | grep -c x a b c - > out", options=())
    words = [line["text"] for line in json.loads(box.fathom("report", box.trace, "--format", "json"))["words"]]
    reads = [line for line in words if " read took" in line]
    check_true(f"{words} tell the pipe", len(reads) == 1 and re.search(r" on pipe from \S+ \(pid \d+\)", reads[0]))
