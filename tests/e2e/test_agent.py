# SPDX-License-Identifier: MIT
"""Agents: programs measured for a job, numbers of others, the outbox, and clients of one's own."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from kit import INCLUDE, Box, check, check_true
from test_jobs import fathom, free_port, home, lines, refused, told

TREE = INCLUDE.parent
SPIN = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static __attribute__((noinline)) unsigned long lap(unsigned long mixed) {
  for (int i = 0; i < 200000; i++) mixed = mixed * 6364136223846793005UL + 1;
  return mixed;
}
int main(int argc, char** argv) {
  volatile unsigned long mixed = 1;
  while (clock() < atol(argv[1]) * (CLOCKS_PER_SEC / 1000)) mixed = lap(mixed);
  FILE* ran = fopen("ran", "a");
  fputs("x", ran);
  puts("laps done");
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""


def laps(box: Box) -> Path:
    source = box.root / "laps.c"
    source.write_text(SPIN)
    return box.kit.made("laps", "cc", "-O1", source)


def sums(box: Box, job: str = "job", *server: object) -> dict[tuple[str, str, str], int]:
    rows = told(box, "job", "show", job, "--profile", *server)
    return {(row["node"], row["exec"], row["event"]): row["count"] for row in rows}


def test_profile(box: Box) -> None:
    """The program's functions come to the job, twice as many after two runs; its output and status are its own."""
    fathom(box, "job", "create", "job")
    for runs in (1, 2):
        out, _ = fathom(box, "agent", "profile", "--job", "job", "--", laps(box), 300, 7, status=7)
        check("stdout", b"laps done\n", out)
        spent = sums(box).get(("lap", "laps", "cpu-clock"), 0)
        check_true(f"ns in lap after {runs} runs: {spent}", runs * 200e6 < spent < runs * 400e6)
    check("recordings left behind", [], list(box.dir.glob("*.fathom")))


def test_bench(box: Box) -> None:
    """Every repetition is kept, with the command, the machine, the revision and the time; a failure is kept as one."""
    fathom(box, "job", "create", "job")
    words = [str(laps(box)), "20"]
    out, _ = fathom(box, "agent", "bench", "--job", "job", "-r", 3, "--revision", "r7", "--", *words)
    check("stdout", 3 * b"laps done\n", out)
    fathom(box, "agent", "bench", "--job", "job", "--", laps(box), 1, 7, status=7)
    first, second = told(box, "job", "show", "job", "--benchmarks")
    check("facts", (words, platform.node(), "r7"), (first["command"], first["host"], first["revision"]))
    check("statuses", ([0, 0, 0], [7]), tuple([run["exit"] for run in one["runs"]] for one in (first, second)))
    check_true(
        f"machine and time: {first}",
        bool(first["machine"]["cores"]) and bool(re.match(r"20\d\d-\d\d-\d\dT", first["time"])),
    )
    fathom(box, "agent", "bench", "--job", "job", "--", "/nowhere/there", status=127)
    check("records", 2, len(told(box, "job", "show", "job", "--benchmarks")))


def test_log(box: Box) -> None:
    """Commands of a log run in their directories; all of them, and the first failure is the status."""
    fathom(box, "job", "create", "job")
    for name in ("one", "two and a half"):
        (box.dir / name).mkdir()
    two = f"cd '{box.dir}/two and a half' && {laps(box)}"
    (box.dir / "log").write_text(f"cd {box.dir}/one && {laps(box)} 5\n{two} 5 7\n\n{two} 5 8\n")
    _, err = fathom(box, "agent", "bench", "--job", "job", "--log", "log", status=7)
    check_true(f"how many failed: {err!r}", b"2 of 3 commands failed" in err)
    check("runs", ["x", "xx"], [(box.dir / name / "ran").read_text() for name in ("one", "two and a half")])
    exits = [run["exit"] for record in told(box, "job", "show", "job", "--benchmarks") for run in record["runs"]]
    check("statuses", [0, 7, 8], exits)
    (box.dir / "args").write_text(f"x {box.dir}/one x 30\nx {box.dir}/one x 30\n")
    fathom(box, "agent", "profile", "--job", "job", "--log", "args", "--program", laps(box), "--sample", 997)
    check_true(f"lap is in {sums(box)}", ("lap", "laps", "cpu-clock") in sums(box))
    (box.dir / "bad").write_text(f"cd {box.dir}/one && {laps(box)} 5\ncd {box.dir}/one\n")
    check_true("the line", "line 2" in refused(box, "agent", "bench", "--job", "job", "--log", "bad"))
    check("nothing ran", "xxx", (box.dir / "one" / "ran").read_text())


def test_lines(box: Box) -> None:
    """JSON lines and perf's text are added up; damage is counted, and nothing at all is an error."""
    fathom(box, "job", "create", "job")
    perf = b"my worker 1/2 [001] 4.5: 250 cpu-clock:k: ffff schedule+0x1 ([kernel.kallsyms])\n"
    text = lines(("f", "a", "e", 10), ("größe<int, 2>", "a b", "e:u", 1)) * 1000 + perf * 3
    fathom(box, "agent", "profile", "--job", "job", "--stdin", stdin=text)
    wanted = {
        ("f", "a", "e"): 10_000,
        ("größe<int, 2>", "a b", "e:u"): 1000,
        ("schedule", "[kernel.kallsyms]", "cpu-clock:k"): 750,
    }
    check("sums", wanted, sums(box))
    damaged = b'{"node": "f"\n\xff\xfe\n[]\n'
    _, err = fathom(box, "agent", "profile", "--job", "job", "--stdin", stdin=damaged + lines(("f", "a", "e", 1)))
    check_true(f"damage: {err!r}", b"3 damaged lines" in err)
    check("sum", 10_001, sums(box)["f", "a", "e"])
    refused(box, "agent", "profile", "--job", "job", "--stdin")
    refused(box, "agent", "profile", "--job", "job", "--stdin", stdin=damaged)


def test_no_job(box: Box) -> None:
    """The program does not run for hours to find out that there is no job; the line says how to make one."""
    for kind in ("profile", "bench"):
        words = refused(box, "agent", kind, "--job", "ghost", "--", laps(box), 0)
        check_true(words, "fathom job create ghost" in words)
    check("ran", False, (box.dir / "ran").exists())


def test_outbox(box: Box) -> None:
    """A server that is away: the program runs as ever, and its numbers wait, private, for this server alone."""
    away = ("--server", f"http://127.0.0.1:{free_port()}")
    fathom(box, "job", "create", "job")
    _, err = fathom(box, "agent", "bench", "--job", "job", *away, "--", laps(box), 1, 7, status=7)
    check_true(f"told: {err!r}", b"outbox" in err)
    fathom(box, "agent", "profile", "--job", "job", "--stdin", *away, stdin=lines(("f", "a", "e", 10)))
    outbox = Path(home(box)["HOME"]) / ".local" / "state" / "fathom" / "outbox"
    files = sorted(outbox.iterdir())
    check(
        "files, modes",
        (2, 0o700, [0o600, 0o600]),
        (len(files), outbox.stat().st_mode & 0o777, [f.stat().st_mode & 0o777 for f in files]),
    )
    _, err = fathom(box, "agent", "flush")  # to the user's own store: these are not for it
    check_true(f"whom they wait for: {err!r}", away[1].encode() in err)
    check("the user's own job", {}, sums(box))
    fathom(box, "agent", "flush", *away, status=3)
    check("nothing was lost", 2, len(list(outbox.iterdir())))
    refused(box, "agent", "profile", "--job", "job", "--stdin", "--no-outbox", *away, stdin=lines(("f", "a", "e", 10)))
    files[0].write_bytes(files[0].read_bytes()[:-5])
    _, err = fathom(box, "agent", "flush", *away, status=3)
    check_true(f"the damaged file: {err!r}", files[0].name.encode() in err)


def test_agents_at_once(box: Box) -> None:
    """Four agents write to the user's own store at the same time: every count is there, and nothing is left to send."""
    fathom(box, "job", "create", "job")
    command = [str(box.kit.fathom), "agent", "profile", "--job", "job", "--stdin"]
    agents = [subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, **home(box)}) for _ in range(4)]
    for agent in agents:
        if agent.stdin:
            agent.stdin.write(lines(("f", "a", "e", 1)) * 500)
            agent.stdin.close()
    check("statuses", [0] * 4, [agent.wait(120) for agent in agents])
    check("sum", {("f", "a", "e"): 2000}, sums(box))


CLIENT = """
#include <fathom/client.hpp>
int main(int, char** argv) {
  fathom::ProfileClient client(argv[1], {}, argv[2]);
  for (int i = 0; i < 10000; i++) client.add("solve<int, \\"2\\">\\n", "simulate", "flops", 2);
  client.add("damaged", "x", "negative", -1);
  return client.finish() ? 0 : 1;
}
"""


def test_a_client_in_cpp(box: Box) -> None:
    """A header alone sends rows of one's own; a job that is missing is a false, and no signal."""
    fathom(box, "job", "create", "job")
    source = box.root / "client.cc"
    source.write_text(CLIENT)
    program = box.kit.made("client_cc", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", source)
    box.run(program, "job", box.kit.fathom, env=home(box))
    check("sums", {('solve<int, "2">\n', "simulate", "flops"): 20_000}, sums(box))
    box.run(program, "ghost", box.kit.fathom, status=1, env=home(box))
    box.run(program, "job", "/nowhere/fathom", status=1, env=home(box))


def test_examples_of_the_page(box: Box) -> None:
    """The commands of docs/fleet.md that need no server run as they stand there."""
    page = (TREE / "docs" / "fleet.md").read_text()
    blocks = re.findall(r"```sh runs\n(.*?)```", page, re.S)
    check_true("examples in the page", len(blocks) >= 3)
    (box.dir / "solve").write_text("#!/bin/sh\nexit 0\n")
    (box.dir / "solve").chmod(0o755)
    env = {**home(box), "PATH": f"{box.kit.build}:{os.environ['PATH']}", "TREE": str(TREE), "CXX": "c++"}
    env["PYTHONPATH"], env["PYTHON"] = str(TREE / "python"), sys.executable
    for block in blocks:
        process = box.start("sh", "-eu", "-c", block, env=env)
        out, err = box.finish(process, None)
        check(f"status of the example {block!r} (stdout {out[-300:]!r}, stderr {err[-300:]!r})", 0, process.returncode)
