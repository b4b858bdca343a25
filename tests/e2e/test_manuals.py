# SPDX-License-Identifier: MIT
"""Manual pages and completions, in the shells and formatters that read them."""

import os
import pty
import re
import select
import shutil
import time
from pathlib import Path

from kit import Box, Failure, Skipped, check, check_true


def need(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise Skipped(f"{program} is not installed")
    return found


def made(box: Box, path: str) -> Path:
    place = box.kit.build / "share" / path
    if not place.exists():
        raise Failure(f"there is no {place}; the target manuals makes it")
    return place


def commands(box: Box) -> list[str]:
    return re.findall(r"^  ([a-z]+) ", box.fathom("--help").decode().split("\nExample:")[0], re.MULTILINE)


def options(box: Box, command: str) -> list[str]:
    """What --help names, at the begin of its lines."""
    lines = box.fathom(command, "--help").decode().split("\nExample:")[0].splitlines()
    names = [name for line in lines if line.startswith("  ") for name in re.split(r", ", line[2:33].strip())]
    return [name.split()[0] for name in names if name.startswith("-")]


def test_usage_names_every_word(box: Box) -> None:
    """What --help explains below stands in the first line too; an action may stand there by its name."""
    for command in commands(box):
        usage, *rest = box.fathom(command, "--help").decode().splitlines()
        words = re.findall(r"^  ([A-Z][A-Z|]+)…?(?:  |$)", "\n".join(rest), re.MULTILINE)
        check(f"not in {usage!r}", [], [word for word in words if word != "ACTION" and word not in usage])
    check_true("what executors start", "work" not in box.fathom("suite", "--help").decode().split("SPEC")[1])


def listed(box: Box, command: str) -> list[str]:
    """What --help lists under titles of their own: views, formats."""
    below = box.fathom(command, "--help").decode().split("\nExample:")[0].split("show this help\n")[1]
    return re.findall(r"^  ([a-z][a-z-]*)", below, re.MULTILINE)


def test_manual_pages(box: Box) -> None:
    """A page for each command, sound to groff, that names every option and every list of --help."""
    groff = need("groff")
    names = commands(box)
    check_true(f"commands: {names}", "run" in names and len(names) > 10)
    for page in ["fathom", *(f"fathom-{name}" for name in names)]:
        path = made(box, f"man/man1/{page}.1")
        process = box.start(groff, "-ww", "-man", "-Tascii", "-P-cbou", path)
        out, err = box.finish(process)
        check(f"warnings of {page}", b"", err)
        text = re.sub(r"\s+", "", out.decode())
        for option in options(box, page[7:]) if page != "fathom" else names:
            check_true(f"{option} in {page}.1", option in text)
        for name in listed(box, page[7:]) if page != "fathom" else []:
            check_true(f"{name} in the lists of {page}.1", name in text)
    check_true("formats of export", "perfetto" in listed(box, "export"))


def bash_replies(box: Box, *words: str) -> list[str]:
    """What bash would offer for the last word."""
    script = """
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _fathom; printf '%s\\n' "${COMPREPLY[@]}"
    """
    file = made(box, "bash-completion/completions/fathom")
    out = box.run(need("bash"), "--norc", "-c", script, "bash", file, "fathom", *words)
    return out.decode().split()


def test_bash_completion(box: Box) -> None:
    file = made(box, "bash-completion/completions/fathom")
    said = box.run(need("bash"), "--norc", "-c", f"source {file}; complete -p fathom")
    check("complete -p", b"complete -F _fathom fathom\n", said)
    check("commands", ["report"], bash_replies(box, "rep"))
    check("tools to move from", ["datacrumbs"], bash_replies(box, "moving", "dat"))
    for command in commands(box):
        offered = bash_replies(box, command, "-")
        for option in options(box, command):
            check_true(f"{option} of {command}: {offered}", option in offered)
    check("views", ["functions"], bash_replies(box, "report", "x.fathom", "func"))
    check("formats", ["json"], bash_replies(box, "info", "--format", "j"))
    check("formats, as one word", ["json"], bash_replies(box, "info", "--format", "=", "j"))
    check("lists", ["+python,posix"], bash_replies(box, "run", "--layers", "+python,pos"))
    check_true("programs", "ls" in bash_replies(box, "run", "--layers", "posix", "ls"))
    check("the program's own options", [], bash_replies(box, "run", "--", "ls", "-"))
    check("behind a program without --", [], bash_replies(box, "run", "ls", "--lay"))


def typed(box: Box, command: list[str], keys: list[bytes], wanted: bytes) -> None:
    """Starts a shell in a terminal of its own, types, and waits for what it shows."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(box.dir)
        os.execvpe(command[0], command, {**os.environ, "TERM": "dumb", "HOME": str(box.dir), "PS1": "ready> "})
    shown = b""
    try:
        for key in keys:
            end = time.monotonic() + 20
            while time.monotonic() < end and b"ready>" not in shown:
                shown += read_some(terminal)
            os.write(terminal, key)
        end = time.monotonic() + 20
        while time.monotonic() < end and wanted not in shown:
            shown += read_some(terminal)
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    check_true(f"{wanted!r} is shown: {shown[-600:]!r}", wanted in shown)


def read_some(terminal: int) -> bytes:
    ready, _, _ = select.select([terminal], [], [], 0.2)
    try:
        return os.read(terminal, 65536) if ready else b""
    except OSError:
        return b""


def test_zsh_completion(box: Box) -> None:
    zsh = need("zsh")
    folder = made(box, "zsh/site-functions/_fathom").parent
    start = f"fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; PS1='ready> '\n"
    (box.dir / ".zshrc").write_text(start)
    typed(box, [zsh, "-i"], [b"fathom report --safe\t"], b"--safe-csv")
    typed(box, [zsh, "-i"], [b"fathom doc\t"], b"doctor")
    text = (folder / "_fathom").read_text()
    for command in commands(box):
        part = text.split(f"\n    {command})")[1].split("\n      ;;")[0]
        for option in options(box, command):
            check_true(f"{option} of {command}", option in part)


def fish_offers(box: Box, line: str) -> list[str]:
    file = made(box, "fish/vendor_completions.d/fathom.fish")
    out = box.run(need("fish"), "--no-config", "-c", f"source {file}; complete --do-complete {line!r}")
    return [row.split("\t")[0] for row in out.decode().splitlines()]


def test_fish_completion(box: Box) -> None:
    check("commands", ["report"], fish_offers(box, "fathom repo"))
    check("views", True, "functions" in fish_offers(box, "fathom report x func"))
    check("lists", True, "python,posix" in fish_offers(box, "fathom run --layers python,pos"))
    for command in commands(box):
        offered = fish_offers(box, f"fathom {command} -") + fish_offers(box, f"fathom {command} --")
        for option in options(box, command):
            check_true(f"{option} of {command}: {offered}", option in offered)
