# SPDX-License-Identifier: MIT
"""What no hook saw is named, in the summary, the report, `info` and `check`; who hides nothing is not accused."""

import json
import shutil
import sys

from kit import Box, Skipped, check, check_true

BLOCKS = 1000
WAYS = {"raw": "3.91 MiB of 3.91 MiB that it wrote", "requests": "libaio", "mapped": "3.91 MiB of"}
BUDGET = "budgets:\n  - name: writes\n    measure: calls\n    layer: posix\n    max: 1000000\n"


def not_covered(box: Box) -> list[dict[str, str]]:
    return box.info()["not_covered"]


def record_told(box: Box, *command: object, status: int | None = 0) -> str:
    """Records and returns what the summary says."""
    box.not_emulated("a recorder starts it")
    run = (box.kit.fathom, "run", "-o", box.trace, "--", *command)
    _, err = box.finish(box.start(*run), status)
    return err.decode()


def expect_named(box: Box, way: str, words: str) -> None:
    program = box.kit.victim("unseen")
    box.trace = box.root / f"{way}.fathom"
    if way == "requests" and box.start(program, 1, way).wait() == 77:
        raise Skipped("the kernel offers no io_setup here")
    told = record_told(box, program, BLOCKS, way)
    lines = [line for line in told.splitlines() if "not covered:" in line]
    check_true(
        f"{way}: the summary names it: {told}", len(lines) == 1 and words in lines[0] and "--layers +" in lines[0]
    )
    found = not_covered(box)
    check(f"{way}: programs of info", [str(program)], [one["program"] for one in found])
    report = json.loads(box.fathom("report", box.trace, "--format", "json"))
    sentences = [line["text"] for line in report["words"] if line["text"].startswith("Not covered:")]
    check_true(f"{way}: the report says it: {sentences}", len(sentences) == 1 and words in sentences[0])
    (box.dir / "budget.yaml").write_text(BUDGET)
    checked = box.start(box.kit.fathom, "check", box.trace, "--budget", "budget.yaml")
    out, err = box.finish(checked, 3)
    check_true(f"{way}: check does not know: {out!r} {err!r}", b"unknown" in out and b"not covered" in err)
    box.fathom("check", box.trace, "--budget", "budget.yaml", "--partial")


def test_what_no_hook_sees(box: Box) -> None:
    for way, words in WAYS.items():
        expect_named(box, way, words)


def test_go(box: Box) -> None:
    """A program of Go ends without exit(): it is known by the note of its linker."""
    told = record_told(box, box.kit.victim("unseen", "-DGO_NOTE"), BLOCKS, "raw")
    lines = [line for line in told.splitlines() if "not covered:" in line]
    check_true(f"the summary names it: {told}", len(lines) == 1 and "Go's runtime" in lines[0])
    check("programs of info", 1, len(not_covered(box)))


def test_who_is_killed(box: Box) -> None:
    """A program that a signal ends tells nothing: the recorder asks the kernel."""
    told = record_told(box, box.kit.victim("unseen"), BLOCKS, "killed", status=137)
    lines = [line for line in told.splitlines() if "not covered:" in line]
    check_true(f"the summary names it: {told}", len(lines) == 1 and "3.91 MiB that it wrote" in lines[0])
    box.trace = box.root / "honest.fathom"
    box.record(sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", status=137)
    check("not covered of one that hides nothing", [], not_covered(box))


def test_a_recorder_inside_another(box: Box) -> None:
    """The inner one records its program, and the outer one says that."""
    inner = box.root / "inner.fathom"
    box.not_emulated("a recorder starts it")
    # Without samples it maps no files of its own to find names in.
    box.record(box.kit.fathom, "run", "-q", "--sample", "0", "-o", inner, "--", box.kit.victim("reader"), 5)
    found = [(one["program"], one["reason"]) for one in not_covered(box)]
    check(
        "programs of another recording",
        [(str(box.kit.victim("reader")), "part of another recording (FATHOM_OUT)")],
        found,
    )
    box.trace = inner
    check("programs that the inner one missed", [], not_covered(box))


def test_io_uring(box: Box) -> None:
    program = box.kit.victim("uring")
    (box.dir / "data").write_bytes(bytes(1 << 20))
    if box.start(program, 1, "plain").wait() == 3:
        raise Skipped("the kernel offers no io_uring here")
    told = record_told(box, program, 10, "plain")
    check_true(f"the summary names it: {told}", "not covered:" in told and "io_uring" in told)
    check(
        "what",
        ["io_uring"],
        [one["what"] for one in json.loads((box.trace / "manifest.json").read_text())["not_covered"]],
    )


def test_a_program_that_could_not_be_entered(box: Box) -> None:
    box.record(box.kit.victim("reader", "-static"), 5)
    (box.dir / "budget.yaml").write_text(BUDGET)
    _, err = box.finish(box.start(box.kit.fathom, "check", box.trace, "--budget", "budget.yaml"), 3)
    check_true(f"the reason: {err!r}", b"not covered" in err and b"static binary" in err)


COPY = """
import mmap, os, shutil
open("copy", "wb").write(open("big", "rb").read())
shutil.copyfile("big", "other")
for line in open("text"): pass
with open("text") as lines, open("back", "w") as out:
    for line in lines: out.write(line)
os.system("cat big > third; sort text | tail -n 1 > /dev/null")
"""

HONEST = {
    "cat": "cat big > copy",
    "cp": "cp big copy",
    "sort": "sort text > sorted",
    "pipes": "cat big big | head -c 3000000 | wc -c",
    "shell": "i=0; while [ $i -lt 30 ]; do cat text > /dev/null; i=$((i+1)); done",
    "dd": "dd if=big of=copy bs=1k",
    "awk": "awk '{ n += $1 } END { print n }' text",
    "tar": "tar cf all.tar big text && tar xOf all.tar > /dev/null",
    "gzip": "gzip -1 -c text > text.gz && gzip -dc text.gz > /dev/null",
    "cc": "cc -o x x.c && ./x",
    "git": "git init -q here && cd here && cp ../text . && git add . && "
    "git -c user.name=a -c user.email=b commit -qm x && git status && git log",
}


def test_the_honest_are_not_accused(box: Box) -> None:
    (box.dir / "big").write_bytes(bytes(4 << 20))
    (box.dir / "x.c").write_text('#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return puts("x") < 0; }\n')
    (box.dir / "text").write_text("".join(f"{number * 7919 % 100003}\n" for number in range(200_000)))
    for name, script in HONEST.items():
        if name in ("cc", "git") and not shutil.which(name):
            continue
        box.trace = box.root / f"{name}.fathom"
        box.record("sh", "-c", script)
        check(f"not covered of {name}", [], not_covered(box))
    box.trace = box.root / "python.fathom"
    box.record(sys.executable, "-c", COPY)
    check("not covered of python", [], not_covered(box))


# Each thread holds a segment while it lives: more than the first pool has.
MANY_THREADS = """
import os, threading
gate = threading.Barrier(40)
def call():
    os.stat("/")
    gate.wait()
    os.stat("/")
threads = [threading.Thread(target=call) for _ in range(40)]
for one in threads: one.start()
for one in threads: one.join()
"""


def test_a_limit_of_the_program_itself(box: Box) -> None:
    """A program that may make no file of a pool's size loses events for a reason of its own."""
    box.not_emulated("a recorder starts it")
    box.record("sh", "-c", 'ulimit -f 100; exec "$0" -B -c "$1"', sys.executable, MANY_THREADS)
    reasons = {reason for (reason,) in box.rows("SELECT reason FROM losses WHERE count > 0")}
    check_true(f"reasons {reasons}", any("file size limit (ulimit -f)" in reason for reason in reasons))


def test_pythons_that_nobody_traces(box: Box) -> None:
    """One that is newer than this Fathom, or has no lock, is named; no line is offered that would not help."""
    program = box.kit.victim("newer_python", "-rdynamic")
    for version, words in (
        ("3.14.0 (main) [GCC 14]", "Python 3.14.0: this version of Fathom traces 3.8 to 3.13"),
        ("3.13.1 experimental free-threading build", "Python 3.13.1: a build without the interpreter's lock"),
        ("3.9.99 (main) [GCC 14]", "fathom python add"),
    ):
        box.trace = box.root / f"{version[:4]}.fathom"
        box.record(program, version, options=("--layers", "python"))
        reason = box.value("SELECT reason FROM layers WHERE layer = 'python'")
        check_true(f"{version}: {reason}", words in reason)
        check(f"{version}: what would help", "python add" in words, "python add" in reason)
