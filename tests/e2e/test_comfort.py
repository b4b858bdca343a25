# SPDX-License-Identifier: MIT
"""The next command that a user types: about the newest recording, a file from a mail, the rules that fired."""

import gzip
import json
import os
import signal
from pathlib import Path

from kit import Box, check, check_true

EVENTS = "SELECT count(*) AS n FROM events"
PFW = """[
{"id":"0","name":"read","cat":"POSIX","pid":7,"tid":7,"ts":1000,"dur":20,"ph":"X","args":{"ret":4096}}
{"id":"1","name":"write","cat":"POSIX","pid":7,"tid":7,"ts":1030,"dur":5,"ph":"X","args":{"ret":10}}
"""


def count(box: Box, trace: object) -> int:
    return int(json.loads(box.fathom("sql", trace, EVENTS, "--format", "json"))[0]["n"])


def refusal(box: Box, *arguments: object) -> str:
    return box.finish(box.start(box.kit.fathom, *arguments), 3)[1].decode()


def test_last_is_the_newest_recording(box: Box) -> None:
    """Wherever it lies; a directory of that name is meant by ./last."""
    check_true("nothing yet", "fathom run" in refusal(box, "report", "last"))
    for place, command in ((box.root / "old", "true"), (box.root / "with spaces é" / "new", "cat")):
        box.run(box.kit.fathom, "run", "-q", "-o", place, "--", command, "/etc/passwd")
    reads = "SELECT count(*) AS n FROM processes WHERE name = 'cat'"
    check("of cat", 1, json.loads(box.fathom("sql", "last", reads, "--format", "json"))[0]["n"])
    (box.dir / "budget.yaml").write_text("budgets:\n  - measure: calls\n    function: read\n    min: 1\n")
    for arguments in (("report",), ("info",), ("show",)):
        box.fathom(*arguments, "last")
    box.fathom("diff", "last", "last")
    box.fathom("export", "last", "--format", "chrome", "-o", "out.json")
    box.fathom("check", "last", "--budget", "budget.yaml")
    box.run(box.kit.fathom, "run", "-q", "-o", "last", "--", "true")
    check("./last is the recording of that name", count(box, box.dir / "last"), count(box, "./last"))


def test_last_that_is_gone(box: Box) -> None:
    box.record("true")
    box.trace.rename(box.root / "elsewhere")
    told = refusal(box, "report", "last")
    check_true(f"names it: {told}", str(box.trace) in told and told.count("\n") == 1)


def test_last_of_a_home_that_is_another_users(box: Box) -> None:
    """As under sudo, which keeps HOME: root leaves nothing in it."""
    if os.geteuid() != 0:
        return
    home = box.root / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    env = {"HOME": str(home), "XDG_STATE_HOME": ""}
    box.run(box.kit.fathom, "run", "-q", "-o", box.trace, "--", "true", env=env)
    check("left there", [], list(home.iterdir()))


def left_beside(box: Box) -> list[str]:
    return sorted(str(path) for path in box.root.rglob("*"))


def test_a_trace_of_another_tool_is_shown_at_once(box: Box) -> None:
    """Plain or compressed; nothing is left beside it, nor among the temporary files."""
    plain, packed = box.dir / "mail.pfw", box.dir / "mail.pfw.gz"
    plain.write_text(PFW)
    packed.write_bytes(gzip.compress(PFW.encode()))
    scratch = box.root / "scratch"
    scratch.mkdir()
    before = left_beside(box)
    for file in (plain, packed):
        for arguments in (("report", file), ("report", file, "functions"), ("info", file), ("show", file)):
            box.run(box.kit.fathom, *arguments, env={"TMPDIR": str(scratch)})
        check(f"events of {file.name}", 2, count(box, file))
    box.run(box.kit.fathom, "diff", plain, packed, env={"TMPDIR": str(scratch)})
    check("left behind", before, left_beside(box))


def test_a_signal_leaves_nothing_of_an_import(box: Box) -> None:
    """Commands that ask the database nothing, too."""
    file, scratch = box.dir / "long.pfw", box.root / "scratch"
    event = PFW.splitlines()[1]
    file.write_text("[\n" + f"{event}\n" * 300_000)
    scratch.mkdir()
    env = {"TMPDIR": str(scratch)}
    for number, *arguments in (
        (signal.SIGTERM, "info", file),
        (signal.SIGUSR1, "diff", file, file),
        (signal.SIGQUIT, "report", file),
        (signal.SIGINT, "import", file, "-o", scratch / "x.fathom"),
    ):
        # A shell that starts CI in the background leaves some of these ignored.
        words = ("env", "--default-signal", "sh", "-c", 'ulimit -c 0; exec "$@"', "sh")
        process = box.start(*words, box.kit.fathom, *arguments, env=env)
        box.wait_for("an import", lambda: any(scratch.iterdir()))
        process.send_signal(number)
        box.finish(process, -number)
        check(f"left by {arguments[0]}", [], list(scratch.iterdir()))


def test_a_reader_that_leaves_takes_temporary_files_along(box: Box) -> None:
    """As `| head` does: the command dies of SIGPIPE, as shells expect."""
    file, scratch, trace = box.dir / "x.pfw", box.root / "scratch", box.dir / "x.fathom"
    lines = [
        f'{{"id":"{i}","name":"n{i}","cat":"POSIX","pid":7,"tid":7,"ts":{i},"dur":1,"ph":"X"}}' for i in range(20_000)
    ]
    file.write_text("[\n" + "\n".join(lines))
    box.fathom("import", file, "-o", trace)
    scratch.mkdir()
    ends_early = '"$@" | head -c 1 >/dev/null; echo "${PIPESTATUS[0]}"'
    for arguments in (
        ("sql", trace, "FROM events", "--format", "csv"),
        ("sql", file, "FROM events", "--format", "csv"),
        ("report", file, "functions", "--top", "0"),
        ("export", trace, "--format", "chrome", "-o", "-"),
    ):
        env = {"TMPDIR": str(scratch)}
        status = box.run("bash", "-c", ends_early, "bash", box.kit.fathom, *arguments, env=env)
        check(f"status of {arguments[0]}", 128 + signal.SIGPIPE, int(status))
        check(f"left by {arguments[0]}", [], list(scratch.iterdir()))


def test_a_file_that_is_no_trace(box: Box) -> None:
    file: Path = box.dir / "letter.txt"
    file.write_text("Dear all,\n")
    told = refusal(box, "report", file)
    check_true(f"one line that names it: {told}", "letter.txt" in told and told.count("\n") == 1)


def test_show_lists_what_fired(box: Box) -> None:
    box.record("true")
    fired = json.loads(box.fathom("show", box.trace, "--format", "json"))
    check("rules with nothing to say", [], [row["rule"] for row in fired if not row["says"]])
    every = json.loads(box.fathom("show", box.trace, "--all", "--format", "json"))
    check_true(f"{len(every)} rules in all", len(every) > 20 and len(every) > len(fired))


def test_doctor_says_that_there_is_no_driver(box: Box) -> None:
    """Calls of CUDA could be recorded, but no program of this machine can make one."""
    if any(Path("/dev").glob("nvidia[0-9]*")):
        return
    rows = {row["layer"]: row for row in json.loads(box.fathom("doctor", "--format", "json"))["layers"]}
    for layer in ("cuda", "gpu"):
        check(f"state of {layer}", "no driver", rows[layer]["state"])


def test_a_prefix_that_cannot_be_preloaded_is_told(box: Box) -> None:
    """The loader splits LD_PRELOAD at blanks: without the library there is nothing to record, and that is said."""
    prefix = box.root / "my programs"
    prefix.mkdir()
    for name in ("fathom", "libfathom.so", "libduckdb.so"):
        (prefix / name).write_bytes((box.kit.build / name).read_bytes())
    (prefix / "fathom").chmod(0o755)
    said = box.finish(box.start(prefix / "fathom", "run", "-o", box.trace, "--", "cat", "/etc/hostname"))[1].decode()
    check_true(
        f"layers and reason in {said!r}", "not recorded: app, stdio, posix" in said and "contains a space" in said
    )


def test_collect_leaves_layers_off_that_nobody_asked_for(box: Box) -> None:
    box.run("cat", "/etc/hostname", env=box.unsupervised())
    box.fathom("collect", box.trace)
    states = {row["layer"]: row["state"] for row in box.info()["layers"]}
    wrong = [name for name in ("syscall", "vfs", "block", "net", "user") if states[name] != "off"]
    check("layers that are not off", [], wrong)


def test_repetitions_in_every_command(box: Box) -> None:
    """As `diff` has it: one run several times, of which a report shows the one in the middle."""
    reps = box.root / "reps"
    for number in range(3):
        box.run(box.kit.fathom, "run", "-q", "-o", reps / str(number), "--", "sh", "-c", "cat /etc/passwd; sleep 0.05")
    (box.dir / "budget.yaml").write_text("budgets:\n  - measure: wall\n    max: 10 s\n  - measure: calls\n    min: 1\n")
    check_budget = ("--budget", "budget.yaml", "--format", "json")
    each = [json.loads(box.fathom("check", reps / str(number), *check_budget)) for number in range(3)]
    both = zip(json.loads(box.fathom("check", reps, *check_budget)), zip(*each, strict=True), strict=True)
    for together, apart in both:
        mean = sum(one["value"] for one in apart) / 3
        check_true(f"mean of {apart}: {together}", abs(together["value"] - mean) < 1e-6 * mean)
    answer = json.loads(box.fathom("report", reps, "--format", "json"))
    first, second = (line["text"] for line in answer["words"][:2])
    check_true(f"first sentence {first!r}", first.startswith("3 repetitions of sh -c "))
    check_true(f"second sentence {second!r}", second.startswith("sh -c ") and " wall time, " in second)
    shown = next(str(reps / str(number)) for number in range(3) if str(reps / str(number)) in first)
    alone = json.loads(box.fathom("report", shown, "--format", "json"))
    check("the rest is of the one that is named", alone["words"], answer["words"][1:])


def test_a_view_may_come_before_its_recording(box: Box) -> None:
    box.record("true", options=("--sample", "0"))
    told = box.fathom("report", box.trace, "processes", "--format", "csv")
    check("the same answer", told, box.fathom("report", "processes", box.trace, "--format", "csv"))
    box.fathom("report", "processes", "functions", status=3)  # two views: there is no such recording
