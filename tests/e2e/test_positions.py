# SPDX-License-Identifier: MIT
"""File positions: every offset that is told is the truth, and in ordinary programs nearly all are told."""

import json
import shutil
import sys

from kit import Box, Skipped, check, check_true

STEPS = """
WITH steps AS (
  SELECT pid, tid, ts, dur, args['truth']::BIGINT AS truth FROM events
  WHERE name = 'step' AND args['truth'] IS NOT NULL)
SELECT c.name, s.truth, c."offset", count(*) FROM steps s JOIN events c
ON c.pid = s.pid AND c.tid = s.tid AND c.ts >= s.ts AND c.ts + c.dur <= s.ts + s.dur
WHERE c.category IN ('read', 'write') AND c.layer = 'posix' GROUP BY ALL"""


def steps(box: Box, mode: str, number: int, known: float) -> None:
    """No offset is wrong, and this part of them is known."""
    box.record(box.kit.victim("positions"), mode, number)
    rows = box.rows(STEPS)
    wrong = [row for row in rows if row[2] is not None and row[1] != row[2]]
    check(f"wrong offsets of {mode} (call, truth, recorded, times)", [], wrong[:10])
    total, told = sum(row[3] for row in rows), sum(row[3] for row in rows if row[2] is not None)
    check_true(f"{mode}: {told} of {total} offsets known", total > 0 and told >= known * total)


def test_one_process(box: Box) -> None:
    steps(box, "plain", 100_000 if box.kit.full else 10_000, 0.99)


def test_duplicated(box: Box) -> None:
    steps(box, "duplicates", 2000, 0.99)


def test_shared_with_stdio(box: Box) -> None:
    steps(box, "stdio", 300, 0.99)


def test_moved_by_children(box: Box) -> None:
    """system, popen, vfork, posix_spawn, fork: whoever inherits a descriptor may move it."""
    steps(box, "children", 200 if box.kit.full else 20, 0.9)


def test_read_by_threads(box: Box) -> None:
    steps(box, "threads", 40 if box.kit.full else 5, 0)


def test_read_by_processes(box: Box) -> None:
    steps(box, "processes", 4, 0)


def test_moved_by_whom_it_was_sent_to(box: Box) -> None:
    """sendmsg, sendmmsg and the raw system call with SCM_RIGHTS: the receiver moves the position, too."""
    steps(box, "rights", 60, 0.99)


def test_special(box: Box) -> None:
    """preadv2 from the position, pwrite to O_APPEND, RWF_APPEND, beyond 4 GiB."""
    box.not_emulated("qemu-user knows no flags of pwritev2")
    steps(box, "special", 100, 0.5)


def test_append_by_processes(box: Box) -> None:
    """Where several processes append, an offset is right or unknown: what lies there is the writer's own."""
    box.record(box.kit.victim("positions"), "appenders", 6)
    content = (box.dir / "log").read_bytes()
    rows = box.rows(
        f"SELECT pid, \"offset\" FROM events WHERE name = 'write' AND file = '{box.dir}/log' AND \"offset\" IS NOT NULL"
    )
    writers = {pid: content[offset : offset + 1] for pid, offset in rows}
    wrong = [(pid, offset) for pid, offset in rows if content[offset : offset + 32] != writers[pid] * 32]
    check("offsets that are another's", [], wrong[:5])


def test_piece_sums(box: Box) -> None:
    """readv and writev: the size is the sum of the pieces."""
    box.record(box.kit.victim("positions"), "plain", 2000)
    check("sizes of readv", [(12,)], box.rows("SELECT DISTINCT size FROM events WHERE name = 'readv'"))


def known_part(box: Box, *command: object) -> None:
    box.trace = box.root / f"{command[0]}.fathom"
    box.record(*command)
    total, told = box.rows(
        "SELECT count(*), count(\"offset\") FROM events WHERE layer = 'posix' AND category IN ('read', 'write') "
        "AND file LIKE '/%' AND file NOT LIKE '/dev/%' AND file NOT LIKE '/proc/%' AND error IS NULL"
    )[0]
    check_true(f"{command[0]}: {told} of {total} offsets known", total > 0 and told >= 0.99 * total)


def test_ordinary_programs(box: Box) -> None:
    """At least 99 % of the offsets of tar, dd, Python and sqlite3 are known."""
    (box.dir / "lines").write_text("".join(f"{i * 7919 % 100003}\n" for i in range(200_000)))
    known_part(box, "tar", "cf", "out.tar", "lines")
    known_part(box, "dd", "if=lines", "of=copied", "bs=3000")
    script = "f = open('lines', 'rb', 0); o = open('copy', 'wb', 0)\nwhile b := f.read(1000): o.write(b)\n"
    known_part(box, "python3", "-c", script)
    if shutil.which("sqlite3") is None:
        raise Skipped("there is no sqlite3")
    numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000) "
    known_part(
        box,
        "sqlite3",
        "base.db",
        f"CREATE TABLE t(a); {numbers} INSERT INTO t SELECT x FROM c; SELECT count(*) FROM t;",
    )


# Deeper than a path can be written.
DEEP = """
import os
for _ in range(25):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
fd = os.open("file", os.O_RDWR | os.O_CREAT)
for _ in range(7): os.write(fd, bytes(321))
"""


def test_a_path_that_nobody_can_tell_is_counted(box: Box) -> None:
    box.record(sys.executable, "-c", DEEP)
    check("writes without a file", 7, box.count("name = 'write' AND bytes = 321 AND file IS NULL"))
    lost = box.lost("path could not be read")
    check_true(f"{lost} names are lost", lost >= 8)
    check("events that are lost", 0, box.losses() - lost)
    words = [line["text"] for line in json.loads(box.fathom("report", box.trace, "--format", "json"))["words"]]
    check_true(f"{words} say so", any(line.startswith("Lost: parts of ") for line in words))
