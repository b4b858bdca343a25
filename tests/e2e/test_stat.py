# SPDX-License-Identifier: MIT
"""fathom stat: counts over a process tree, repeated runs, comparisons, and what a user without rights is told."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from kit import Box, Process, Skipped, check, check_true
from test_coverage import as_nobody, open_place

PAGES = """
import mmap, os, sys
def touch(pages):
    room = mmap.mmap(-1, 4096 * pages)
    for page in range(pages):
        room[4096 * page] = 1
touch(int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    if os.fork() == 0:
        touch(int(sys.argv[1]))
        os._exit(0)
    os.wait()
"""


def answer(box: Box, *arguments: object, status: int = 0) -> Any:
    """The JSON, which comes behind whatever the programs printed."""
    out = box.fathom("stat", "--format", "json", *arguments, status=status)
    return json.loads(out[out.index(b"{") :])


def events(told: Any, run: int = 0) -> dict[str, dict[str, Any]]:
    return told["commands"][0]["runs"][run]["events"]


def can_count(box: Box) -> None:
    if events(answer(box, "--", "true"))["page-faults"]["value"] is None:
        raise Skipped("page faults cannot be counted here")


def test_stat_counts_the_tree(box: Box) -> None:
    """A parent and four children touch the same number of pages each."""
    can_count(box)
    box.not_emulated("counters of the machine's own kernel")
    counts = [
        events(answer(box, "-e", "page-faults", "--", "/usr/bin/python3", "-c", PAGES, pages, children))["page-faults"]
        for pages, children in ((10, 4), (5010, 4))
    ]
    more = counts[1]["value"] - counts[0]["value"]
    check_true(f"5 x 5000 faults more, got {more}", 25_000 <= more <= 26_500)
    check("coverage", (1, None), (counts[1]["coverage"], counts[1]["reason"]))


def test_stat_tells_why_something_is_not_counted(box: Box) -> None:
    can_count(box)
    told = events(answer(box, "-e", "page-faults,context-switches:u,r01c2", "--", "true"))
    check("names in their order", ["page-faults", "context-switches:u", "r01c2"], list(told))
    switches = told["context-switches:u"]
    check_true(f"never a 0 that nobody counted: {switches}", switches["value"] is None and switches["reason"])
    for event in told.values():
        check_true(f"a value or a reason: {event}", (event["value"] is None) == (event["reason"] is not None))


def test_stat_of_nothing_that_can_be_counted(box: Box) -> None:
    process = box.start(box.kit.fathom, "stat", "-e", "context-switches:u", "--", "touch", "made")
    out, err = box.finish(process, 3)
    check("stdout", b"", out)
    check_true(f"one line {err!r}", err.startswith(b"fathom: ") and err.count(b"\n") == 1)
    check("the program ran", False, (box.dir / "made").exists())


FORBID = """
import ctypes, errno, os, struct, sys
number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
load, compare, end = 0x20, 0x15, 0x06
steps = [(load, 0, 0, 0), (compare, 0, 1, number), (end, 0, 0, 0x50000 | errno.EPERM), (end, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_stat_in_a_sandbox(box: Box) -> None:
    """Where perf_event_open is refused, times are told without events; who asked for events is told why not."""
    forbid = ("/usr/bin/python3", "-c", FORBID, box.kit.fathom, "stat")
    out, err = box.finish(box.start(*forbid, "-e", "context-switches:u,cycles", "--", "touch", "made"), 3)
    check("stdout, program run", (b"", False), (out, (box.dir / "made").exists()))
    check_true(f"{err!r}", b"seccomp" in err and err.count(b"\n") == 1)
    told = json.loads(box.run(*forbid, "--format", "json", "--", "true"))["commands"][0]["runs"][0]
    check("values", {None}, {event["value"] for event in told["events"].values()})
    check_true(f"{told}", told["wall"] > 0 and "seccomp" in told["events"]["task-clock"]["reason"])


def test_stat_as_another_user(box: Box) -> None:
    """Faults are those of user mode, and said to be; switches are not told to be 0."""
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) != 2:
        raise Skipped("kernel.perf_event_paranoid is not 2")
    with open_place(box.kit) as place:
        command = (place / "fathom", "stat", "--format", "json", "-e", "task-clock,page-faults,context-switches,cycles")
        out = box.run(*as_nobody(place, *command, "--", "sh", "-c", "sleep 0.01; sleep 0.01"))
        told = events(json.loads(out))
        check("clock", (True, False), (told["task-clock"]["value"] > 0, told["task-clock"]["user_only"]))
        check("faults", (True, True), (told["page-faults"]["value"] > 0, told["page-faults"]["user_only"]))
        check("switches", None, told["context-switches"]["value"])
        check_true("the line that helps", "perf_event_paranoid=1" in told["context-switches"]["fix"])
        cycles = told["cycles"]
        check_true(f"not for want of rights: {cycles}", bool(cycles["value"]) or "paranoid" not in cycles["reason"])
        table = box.finish(box.start(*as_nobody(place, place / "fathom", "stat", "-r", 2, "--", "true")))[1].decode()
        check_true(table, "user mode only" in table and "not counted" in table)


def test_stat_keeps_every_run(box: Box) -> None:
    told = answer(box, "-r", 6, "--warmup", 2, "--", "sh", "-c", "echo x >> runs")
    check("times that it ran", 8, (box.dir / "runs").read_text().count("x"))
    (command,) = told["commands"]
    walls = sorted(run["wall"] for run in command["runs"])
    check("runs", 6, len(walls))
    wall = command["summary"]["wall"]
    check("extremes", (walls[0], walls[-1]), (wall["min"], wall["max"]))
    check_true(f"median of {walls}: {wall}", abs(wall["median"] - (walls[2] + walls[3]) / 2) < 1e-9)
    check("written", [2] * 6, [run["written_bytes"] for run in command["runs"]])


def test_stat_stops_at_a_failure(box: Box) -> None:
    script = "echo x >> runs; [ $(wc -l < runs) -ne 3 ] || exit 4"
    told = answer(box, "-r", 5, "--", "sh", "-c", script, status=4)
    check("exits", [0, 0, 4], [run["exit"] for run in told["commands"][0]["runs"]])
    (box.dir / "runs").unlink()
    told = answer(box, "-r", 5, "--ignore-failure", "--", "sh", "-c", script, status=4)
    check("exits", [0, 0, 4, 0, 0], [run["exit"] for run in told["commands"][0]["runs"]])


def test_stat_ends_with_one_signal(box: Box) -> None:
    """A signal to fathom alone reaches the program, which may end well, and ends the series; what ran is told."""
    script = "trap 'exit 0' TERM; echo x >> runs; while :; do sleep 0.01; done"
    process = box.start(box.kit.fathom, "stat", "--format", "json", "-r", 5, "--", "sh", "-c", script)
    box.wait_for("the first run", lambda: (box.dir / "runs").exists())
    process.send_signal(signal.SIGTERM)
    out, _ = box.finish(process)
    check("runs", (1, 1), (len(json.loads(out)["commands"][0]["runs"]), (box.dir / "runs").read_text().count("x")))


def test_stat_compares(box: Box) -> None:
    """A sleep of 5 ms and one of 100 ms: slower, and faster the other way round; three runs are too few."""
    quick, slow = "sleep 0.005", "sleep 0.1"
    told = answer(box, "--cmd", quick, "--cmd", slow, "-r", 6, "--fail-if", "slower", status=1)
    (wall,) = [row for row in told["comparison"] if row["metric"] == "wall"]
    check("verdict", "slower", wall["verdict"])
    check_true(f"{wall}", 1 < wall["low"] <= wall["ratio"] <= wall["high"] and wall["p"] < 0.05)
    told = answer(box, "--cmd", slow, "--cmd", quick, "-r", 6, "--fail-if", "slower")
    check("verdict", "faster", next(row["verdict"] for row in told["comparison"] if row["metric"] == "wall"))
    told = answer(box, "--cmd", quick, "--cmd", slow, "-r", 3)
    (wall,) = [row for row in told["comparison"] if row["metric"] == "wall"]
    check("three of each", ("cannot tell", 4), (wall["verdict"], wall["needs"]))


def test_stat_takes_turns_by_a_seed(box: Box) -> None:
    orders = []
    for seed in (1, 1, 2):
        answer(box, "--cmd", "echo a >> runs", "--cmd", "echo b >> runs", "-r", 12, "--seed", seed)
        orders.append((box.dir / "runs").read_text().replace("\n", ""))
        (box.dir / "runs").unlink()
    check("one seed, one order", orders[0], orders[1])
    check_true(f"another seed: {orders}", orders[0] != orders[2])
    check("turns of each", {(12, 12)}, {(order.count("a"), order.count("b")) for order in orders})
    check_true("in rounds", all(set(order[i : i + 2]) == {"a", "b"} for order in orders for i in range(0, 24, 2)))


def test_stat_measures_the_noise(box: Box) -> None:
    told = answer(box, "--noise", "-r", 5, "--seed", 1, "--", "true")
    check("runs", [5, 5], [len(command["runs"]) for command in told["commands"]])
    floor = told["noise_floor"]
    check_true(f"{floor}", floor["low"] <= floor["ratio"] <= floor["high"] and floor["detectable"] > 0)
    check_true(f"{told['noise']}", told["noise"]["cores"] >= 1 and told["noise"]["load"] >= 0)


def test_stat_until_and_budget(box: Box) -> None:
    told = answer(box, "--until", "0.0001%", "--budget", "2s", "--", "true")
    check_true("more than the least, within the budget", len(told["commands"][0]["runs"]) > 5)
    wide = answer(box, "--until", "900%", "--", "true")
    check("nearly anything is narrow enough", 5, len(wide["commands"][0]["runs"]))


def wait_until_it_counts(box: Box, process: Process) -> None:
    def leads_to_event(link: Path) -> bool:
        try:
            return "perf_event" in os.readlink(link)
        except FileNotFoundError:  # closed since it was listed
            return False

    box.wait_for("a counter", lambda: any(map(leads_to_event, Path(f"/proc/{process.pid}/fd").iterdir())))


def test_stat_of_a_running_process(box: Box) -> None:
    can_count(box)
    script = "while [ ! -e go ]; do sleep 0.01; done; sh -c :; sh -c :"
    program = box.start("sh", "-c", script)
    counting = box.start(box.kit.fathom, "stat", "--format", "json", "-e", "page-faults", "-p", program.pid)
    wait_until_it_counts(box, counting)
    (box.dir / "go").touch()
    box.finish(program)
    told = json.loads(box.finish(counting)[0])
    check_true(f"faults of its children: {told}", events(told)["page-faults"]["value"] > 50)


def test_stat_of_a_process_until_a_signal(box: Box) -> None:
    program = box.start("sh", "-c", "while :; do :; done")
    counting = box.start(box.kit.fathom, "stat", "--format", "json", "-e", "task-clock", "-p", program.pid)
    wait_until_it_counts(box, counting)
    time.sleep(0.1)
    counting.send_signal(signal.SIGINT)
    told = json.loads(box.finish(counting)[0])
    check("the program goes on", None, program.poll())
    check_true(f"{told}", (events(told)["task-clock"]["value"] or 0) > 0)


def test_stat_pins(box: Box) -> None:
    cpu = min(os.sched_getaffinity(0))
    out = box.fathom("stat", "--format", "json", "--pin", cpu, "--", "grep", "Cpus_allowed_list", "/proc/self/status")
    check("CPUs", f"Cpus_allowed_list:\t{cpu}\n".encode(), out[: out.index(b"{")])


def test_stat_formats(box: Box) -> None:
    """People read stderr, programs stdout or a file."""
    out, err = box.finish(box.start(box.kit.fathom, "stat", "--", "echo", "own words"))
    check("stdout", b"own words\n", out)
    check_true(f"the table: {err!r}", b"task-clock" in err and b"wall" in err)
    lines = box.fathom("stat", "--format", "csv", "-r", 2, "--", "true").decode().splitlines()
    check_true(f"{lines}", any(line.startswith("0,wall,s,2,") for line in lines))
    check_true("Markdown", b"| wall" in box.fathom("stat", "--format", "md", "--", "true"))
    out = box.fathom("stat", "--format", "json", "-o", "x.json", "--", "echo", "own words")
    check("stdout beside a file", b"own words\n", out)
    check("file", [0], [run["exit"] for run in json.loads((box.dir / "x.json").read_text())["commands"][0]["runs"]])


WRONG = (
    ("-e", "page-fault", "--", "true"),
    ("-e", "{task-clock", "--", "true"),
    ("-e", "page-faults:z", "--", "true"),
    ("-e", "page-faults"),
    ("--cmd", "true", "--", "true"),
    ("-p", "1", "-r", "3"),
    ("-p", "0"),
    ("-r", "0", "--", "true"),
    ("--equal", "x", "--cmd", "true", "--cmd", "true"),
    ("--fail-if", "faster", "--cmd", "true", "--cmd", "true"),
    ("--fail-if", "slower", "--", "true"),
    ("--noise", "--cmd", "true", "--cmd", "true"),
    ("--pin", "3-1", "--", "true"),
    ("--budget", "soon", "--until", "1%", "--", "true"),
)


def test_stat_refuses(box: Box) -> None:
    for arguments in WRONG:
        out, err = box.finish(box.start(box.kit.fathom, "stat", *arguments), 2)
        check(f"stdout of {arguments}", b"", out)
        check_true(f"one line for {arguments}: {err!r}", err.startswith(b"fathom: ") and err.count(b"\n") == 1)
    check_true("near names", b"page-faults" in box.finish(box.start(box.kit.fathom, "stat", *WRONG[0]), 2)[1])


def test_stat_statuses(box: Box) -> None:
    for status, command in ((127, ["/no/such/program"]), (126, ["/etc/passwd"]), (137, ["sh", "-c", "kill -9 $$"])):
        box.fathom("stat", "--", *command, status=status)
