# SPDX-License-Identifier: MIT
"""Pipes, sockets and terminals are no files: each event says what its descriptor leads to."""

import json
import re
import sys
from pathlib import Path

from jobs import alone
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

# A file into a pipe, from there into another pipe and a file, and memory into that pipe.
PIPED = """
import ctypes, os
libc = ctypes.CDLL(None)
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("length", ctypes.c_size_t)]
one, other = os.pipe(), os.pipe()
source, target = os.open("source", os.O_RDONLY), os.open("target", os.O_WRONLY | os.O_CREAT)
moved = [
    libc.splice(source, None, one[1], None, ctypes.c_size_t(3000), 0),
    libc.tee(one[0], other[1], ctypes.c_size_t(3000), 0),
    libc.splice(one[0], None, target, None, ctypes.c_size_t(3000), 0),
    libc.vmsplice(other[1], ctypes.byref(Piece(bytes(500), 500)), ctypes.c_size_t(1), 0),
]
into = ctypes.create_string_buffer(3500)
moved.append(libc.vmsplice(other[0], ctypes.byref(Piece(ctypes.addressof(into), 3500)), ctypes.c_size_t(1), 0))
print(os.getpid(), *moved)
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
    both = "pipe to 2 processes"  # each child read, and nobody else
    check("writers", [(parent, 11, both), (children[0], 12, both), (children[1], 13, both)], box.rows(asked))
    asked = "SELECT DISTINCT args['peer'] FROM events WHERE name = 'read' AND bytes IN (11, 25)"
    check("readers", [("pipe from 3 processes",)], box.rows(asked))
    check_true(f"{name} is the program", box.count(f"program = '{name}' AND bytes = 11") > 0)


def test_who_moves_nothing_is_not_counted(box: Box) -> None:
    """Nobody writes but `seq`, and the second reader meets the end of the data."""
    box.record("sh", "-c", "(sleep 0; seq 1 3; sleep 0) | (cat; cat)")
    rows = box.rows("SELECT DISTINCT name, args['peer'] FROM events WHERE args['peer'] LIKE 'pipe %' ORDER BY ALL")
    check("peers", [], [row for row in rows if "processes" in row[1]])
    check_true(f"{rows} tell the first reader", any(re.fullmatch(r"pipe to cat \(pid \d+\)", row[1]) for row in rows))


def test_bytes_belong_to_the_pipe_too(box: Box) -> None:
    """`splice`, `tee` and `vmsplice` move bytes of pipes, in sums, views and a part of the run."""
    (box.dir / "source").write_bytes(bytes(3000))
    pid, *moved = map(int, box.record(sys.executable, "-c", PIPED).split())
    check("bytes by call", [3000, 3000, 3000, 500, 3500], moved)
    asked = (
        "SELECT name, category, CAST(sum(bytes) FILTER (file IS NOT NULL) AS BIGINT), "
        "CAST(sum(bytes) FILTER ({} LIKE 'pipe %(pid " + str(pid) + ")') AS BIGINT) FROM {} "
        "WHERE name IN ('splice', 'tee', 'vmsplice') AND bytes > 0 GROUP BY ALL ORDER BY ALL"
    )
    wanted = [
        ("splice", "read", 3000, 3000),
        ("splice", "write", 3000, 3000),
        ("tee", "read", None, 3000),
        ("tee", "write", None, 3000),
        ("vmsplice", "read", None, 3500),
        ("vmsplice", "write", None, 500),
    ]
    check("sums", wanted, box.rows(asked.format("peer", "summary")))
    check("bytes that moved", wanted, box.rows(asked.format("args['peer']", "moved")))
    told = [
        box.fathom("report", box.trace, "files", "--format", "json", *part) for part in ((), ("--where", "pid > 0"))
    ]
    check("a part that is the whole", json.loads(told[0]), json.loads(told[1]))


def test_bytes_of_all_pipes_count(box: Box) -> None:
    """Output by stdio to one pipe, and a word by a system call to another."""
    box.record(sys.executable, "-c", TWO_PIPES)
    check("bytes", [(5007,)], box.rows("SELECT sum(bytes) FROM moved WHERE category = 'write' AND bytes IN (5000, 7)"))


@alone("hooks of the kernel are those of the whole machine")
def test_the_kernels_pipes_are_no_files(box: Box) -> None:
    """Single calls and sums alike; what the library saw is not told twice."""
    box.needs_layer("syscall")
    asked = (
        "SELECT CAST(sum(bytes) FILTER (peer LIKE 'pipe [%]') AS BIGINT), count(*) FILTER (file LIKE '%pipe%') "
        "FROM {} WHERE layer = 'syscall' AND name = 'write' AND peer IS NOT NULL"
    )
    tables = {"intervals": (), "(SELECT *, args['peer'] AS peer FROM events)": ("--detail", "syscall")}
    for table, options in tables.items():
        box.trace = box.root / f"{len(options)}.fathom"
        box.record("sh", "-c", PIPELINE, options=("--layers", "+syscall", *options))
        bytes_of_seq = box.value("SELECT sum(bytes) FROM moved WHERE program = 'seq' AND category = 'write'")
        moved, named = box.rows(asked.format(table))[0]
        check_true(f"{table}: {moved} bytes of two pipes", named == 0 and moved >= 2 * bytes_of_seq)
        told = json.loads(box.fathom("report", box.trace, "files", "--format", "json"))
        rows = [row for rows in told.values() if isinstance(rows, list) for row in rows if "peer" in row]
        check("bytes that were written to pipes", [], [row for row in rows if "[" in row["peer"] and row["written"]])


def test_words_tell_the_pipe(box: Box) -> None:
    for name in "abc":
        (box.dir / name).write_bytes(bytes(5000))
    box.record("sh", "-c", "(sleep 0.3; echo x) | grep -c x a b c - > out", options=())
    words = [line["text"] for line in json.loads(box.fathom("report", box.trace, "--format", "json"))["words"]]
    reads = [line for line in words if " read took" in line]
    check_true(f"{words} tell the pipe", len(reads) == 1 and re.search(r" on pipe from \S+ \(pid \d+\)", reads[0]))
