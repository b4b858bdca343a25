# SPDX-License-Identifier: MIT
"""Where the library comes into a program, by which way, and where it cannot: then info says why."""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kit import COUNT, Box, Kit, Skipped, check, check_true

NOBODY = 65534


def not_covered(box: Box) -> dict[str, str]:
    return {Path(one["program"]).name: one["reason"] for one in box.info()["not_covered"]}


def expect_not_covered(box: Box, program: Path, reason: str, command: str, status: int = 0) -> None:
    """As a shell's child and by exec alone: it runs untouched, and is named with its reason."""
    box.trace = box.root / f"child-{program.name}.fathom"
    box.record("sh", "-c", f"{command}; exit $?", status=status)
    check_true(f"{program.name} in a shell: {not_covered(box)}", reason in not_covered(box).get(program.name, ""))
    expect_row(box, program, status, "SELECT pid FROM processes WHERE name IN ('dash', 'bash') ORDER BY start LIMIT 1")
    box.trace = box.root / f"alone-{program.name}.fathom"
    box.record("sh", "-c", f"exec {command}", status=status)
    check_true(f"{program.name} by exec: {not_covered(box)}", reason in not_covered(box).get(program.name, ""))
    expect_row(box, program, status, "SELECT ppid FROM processes WHERE name IN ('dash', 'bash')")


def expect_row(box: Box, program: Path, status: int, parent: str) -> None:
    """What its parent and the recorder know of it stands in `processes`."""
    rows = box.rows(
        f'SELECT ppid = ({parent}), "exit", command, start > 0 AND coalesce("end" > start, true) FROM processes '
        f"WHERE name = '{program.name}'"
    )
    check(f"row of {program.name}", [(True, status, str(program), True)], rows)


def test_static(box: Box) -> None:
    program = box.kit.victim("reader", "-static")
    expect_not_covered(box, program, "static", f"{program} 5")
    box.trace = box.root / "direct.fathom"
    box.record(program, 5)
    check("reason", ["static binary"], list(not_covered(box).values()))
    rows = box.rows('SELECT name, command, "exit", start, "end" > 0, ppid > 0 AND ppid <> pid FROM processes')
    check("row", [(program.name, f"{program} 5", 0, 0, True, True)], rows)


def test_environment_cleared(box: Box) -> None:
    program = box.kit.victim("reader")
    expect_not_covered(box, program, "environment cleared", f"env -i {program} 5")


def other_loader(box: Box, loader: Path) -> Path:
    """A copy of a program that names another loader."""
    program = box.dir / "foreign-program"
    content = box.kit.victim("reader").read_bytes()
    for known in (b"/lib64/ld-linux-x86-64.so.2\0", b"/lib/ld-linux-aarch64.so.1\0"):
        path = str(loader).encode()
        if known in content and len(path) < len(known):
            program.write_bytes(content.replace(known, path.ljust(len(known), b"\0")))
            program.chmod(0o755)
            return program
    raise Skipped("the program's loader is none that is known here")


def test_another_libc(box: Box) -> None:
    with tempfile.TemporaryDirectory(prefix="f") as place:
        loader = Path(place) / "ld-musl.so"
        shutil.copy(box.kit.victim("foreign", "-nostdlib", "-static", "-fno-stack-protector"), loader)
        program = other_loader(box, loader)
        expect_not_covered(box, program, "another libc", str(program), status=7)


def test_another_architecture(box: Box) -> None:
    """The kernel refuses it: the program's exec fails as it would without us."""
    program = box.dir / "other-machine"
    content = bytearray(box.kit.victim("reader").read_bytes())
    content[18:20] = (0x15).to_bytes(2, "little")  # EM_PPC64
    program.write_bytes(content)
    program.chmod(0o755)
    box.record("sh", "-c", f"{program}", status=None)
    refused = box.value("SELECT count(*) FROM processes WHERE command LIKE '%other-machine%' AND name <> 'dash'")
    check("processes of it", 0, refused)


@contextmanager
def open_place(kit: Kit) -> Iterator[Path]:
    """A folder that everybody may enter and write to, with the programs in it."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise Skipped("acting as another user needs root and setpriv")
    with tempfile.TemporaryDirectory(prefix="fathom-open-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        place.chmod(0o777)
        for program in ("fathom", "libfathom.so", "libduckdb.so"):
            shutil.copy(kit.build / program, place / program)
            (place / program).chmod(0o755)
        yield place


def as_nobody(*command: object) -> list[object]:
    return [
        "setpriv",
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        "sh",
        "-c",
        'cd "$0" && exec "$@"',
        *command,
    ]


def test_set_user_id(box: Box) -> None:
    with open_place(box.kit) as place:
        program = place / "set-user-id-program"
        shutil.copy(box.kit.victim("reader"), program)
        program.chmod(0o755 | stat.S_ISUID)
        box.trace = place / "trace"
        command = [
            place / "fathom",
            "run",
            "-q",
            "-o",
            box.trace,
            "--",
            "sh",
            "-c",
            f"{program} 5 {place}/data; exit 0",
        ]
        box.run(*as_nobody(place, *command))
        check("reason", "set-user-id", not_covered(box).get(program.name))


def test_set_user_id_of_its_own_user(box: Box) -> None:
    """Who is that user already gains nothing: the program is recorded, and nothing else is said."""
    program = box.dir / "own-set-user-id"
    shutil.copy(box.kit.victim("reader"), program)
    program.chmod(0o755 | stat.S_ISUID)
    box.record(program, 5, box.dir / "data")
    check("not covered", {}, not_covered(box))
    check_true("its calls are recorded", box.count("file LIKE '%/data'") >= 5)


def test_unprivileged(box: Box) -> None:
    with open_place(box.kit) as place:
        shutil.copy(box.kit.victim("reader"), place / "reader")
        box.trace = place / "trace"
        box.run(*as_nobody(place, place / "fathom", "run", "-q", "-o", box.trace, "--", place / "reader", 500))
        check("reads", 500, box.count("name = 'pread'"))
        check("owner", NOBODY, box.trace.stat().st_uid)
        out = box.run(
            *as_nobody(
                place, place / "fathom", "sql", box.trace, "SELECT count(*) AS n FROM events WHERE name = 'pread'"
            )
        )
        check_true("the user reads it", b"500" in out)


def late(box: Box) -> dict[str, str]:
    return {"FATHOM_OUT": str(box.trace)}


def test_linked(box: Box) -> None:
    """A program that is linked with the library needs no LD_PRELOAD."""
    flags = ("-Wl,--no-as-needed", f"-L{box.kit.library.parent}", "-lfathom", f"-Wl,-rpath,{box.kit.library.parent}")
    box.run(box.kit.victim("reader", *flags), 700, env=late(box))
    check("reads", 700, box.count("name = 'pread'"))
    check("losses", 0, box.losses())
    check("linked and not recording", b"9 reads\n", box.run(box.kit.victim("reader", *flags), 9))


def test_linked_and_preloaded(box: Box) -> None:
    flags = ("-Wl,--no-as-needed", f"-L{box.kit.library.parent}", "-lfathom", f"-Wl,-rpath,{box.kit.library.parent}")
    box.record(box.kit.victim("reader", *flags), 700)
    check("reads", 700, box.count("name = 'pread'"))


PYTHON = """
import ctypes, os, sys
ctypes.CDLL(sys.argv[1])
import sqlite3, mmap, json, zlib
f = os.open('data', os.O_RDWR | os.O_CREAT)
os.write(f, b'x' * 100)
for i in range(50): os.pread(f, 10, i)
base = sqlite3.connect('base.db')
base.execute('CREATE TABLE t(a)')
base.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(100)])
base.commit()
"""


def pythons() -> list[Path]:
    found = [Path(shutil.which("python3") or "/usr/bin/python3")]
    versions = Path.home() / ".pyenv" / "versions"
    found += [path / "bin" / "python3" for path in sorted(versions.glob("3.*")) if (path / "bin" / "python3").exists()]
    return found


def test_loaded_by_python(box: Box) -> None:
    """Imported late, in every Python that is here: its calls are seen, and those of modules that come later."""
    for number, python in enumerate(pythons()):
        box.trace = box.root / f"python-{number}.fathom"
        box.run(python, "-c", PYTHON, box.kit.library, env=late(box))
        check(f"reads of {python}", 50, box.count(f"name = 'pread' AND file = '{box.dir}/data'"))
        check_true(f"sqlite3 of {python}", box.count("file LIKE '%/base.db' AND name IN ('pwrite', 'write')") > 0)
        (box.dir / "base.db").unlink()


def test_loaded_plugins_of_a_late_library(box: Box) -> None:
    """What is dlopen'ed after us is bound, too."""
    plugin = box.kit.victim("plugin", "-shared", "-fPIC", "-DWHO=anna")
    flags = ("-Wl,--no-as-needed", f"-L{box.kit.library.parent}", "-lfathom", f"-Wl,-rpath,{box.kit.library.parent}")
    box.run(box.kit.victim("plugins", *flags), 30, plugin, env=late(box))
    check("writes", 30, box.count("name = 'write' AND file LIKE '%/plugin-anna'"))
    check("regions", 30, box.count("name = 'anna'"))


def expect_sections(box: Box, program: Path) -> None:
    box.trace = box.root / f"{program.name}.fathom"
    box.record(program, 40)
    regions, arguments, texts, counters, reads = box.answers(
        "SELECT name, depth, count(*) FROM events WHERE name IN ('one', 'inner', 'moment') GROUP BY ALL",
        "SELECT sum(args['i']::BIGINT) FROM events WHERE name = 'one'",
        COUNT.format("name = 'inner' AND args['text'] = 'words'"),
        "SELECT count(*), sum(value) FROM counters WHERE name = 'level'",
        COUNT.format("name = 'pread'"),
    )
    names = {row[0]: (row[1], row[2]) for row in regions}
    check(f"regions of {program.name}", {"one": (0, 40), "inner": (1, 40), "moment": (1, 40)}, names)
    check("arguments", [(sum(range(40)),)], arguments)
    check("texts", [(40,)], texts)
    check("counters", [(40, sum(range(40)) * 0.5)], counters)
    check("reads", [(1,)], reads)


def test_annotations_in_any_program(box: Box) -> None:
    for flags in (
        (),
        ("-no-pie", "-fno-pie"),
        ("-no-pie", "-fno-pie", "-O2"),
        ("-static-pie",),
        ("-Wl,-z,now",),
        ("-Wl,-z,lazy",),
    ):
        program = box.kit.victim("sections", *flags)
        if "-static-pie" in flags:
            box.run(program, 3)  # runs without us, and is not annotated
        else:
            expect_sections(box, program)


def test_instrumented_functions(box: Box) -> None:
    """-finstrument-functions: every function that returned is there, by name, also after longjmps and ended threads."""
    number = 5000 if box.kit.full else 2500
    for flags in ((), ("-no-pie", "-fno-pie")):
        box.trace = box.root / f"functions{len(flags)}.fathom"
        box.record(box.kit.victim("functions", "-finstrument-functions", "-rdynamic", *flags), number)
        counts = dict(box.rows("SELECT name, count(*) FROM events WHERE category = 'function' GROUP BY name"))
        wanted = {"main": 1, "middle": number, "leaf": 4 * number + 2, "deep": 301}
        check("functions", wanted, counts)
        depths = box.rows(
            "SELECT name, min(depth), max(depth) FROM events WHERE name IN ('main', 'middle') GROUP BY ALL ORDER BY ALL"
        )
        check("depths", [("main", 0, 0), ("middle", 1, 1)], depths)


def test_functions_too_deep(box: Box) -> None:
    """Beyond what can be kept, functions are counted as lost; when longjmp has left them, all is as before."""
    levels = 20_000
    box.record(box.kit.victim("functions", "-finstrument-functions", "-rdynamic"), 1, levels)
    counts = dict(box.rows("SELECT name, count(*) FROM events WHERE category = 'function' GROUP BY name"))
    lost = box.lost("too deep")
    check_true(f"something is lost: {lost}", lost > 0)
    check("deep ones and the leaf at the cliff, recorded or lost", levels + 2, counts["deep"] + lost)
    check("others", (1, 1, 5), (counts["main"], counts["middle"], counts["leaf"]))
    check("nothing else is lost", lost, box.losses())


SANITIZERS = {"address": ("heap", "stack"), "thread": ("race",), "undefined": ("number",)}


def report_of(error: bytes) -> list[str]:
    """What a sanitizer complained about, without numbers that differ from run to run."""
    lines = error.decode(errors="replace").splitlines()
    words = ("ERROR: AddressSanitizer", "WARNING: ThreadSanitizer", "runtime error", "ASan runtime")
    return [re.sub(r"0x[0-9a-f]+|\d+", "N", line) for line in lines if any(word in line for word in words)]


def expect_as_bare(box: Box, program: Path, bug: str) -> None:
    """The same output, status and complaints as without us; and by a shell's child, too."""
    alone = box.start(program, bug)
    alone_out, alone_err = box.finish(alone, None)
    if b"unexpected memory mapping" in alone_err:
        raise Skipped("this kernel's address space is none that ThreadSanitizer knows")
    for number, command in enumerate(((program, bug), ("sh", "-c", f"{program} {bug}; exit $?"))):
        box.trace = box.root / f"{program.name}-{bug}-{number}.fathom"
        process = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", *command)
        out, err = box.finish(process, None)
        check(f"output of {command}", alone_out, out)
        check(f"status of {command}", alone.returncode, process.returncode)
        check(f"complaints of {command}", report_of(alone_err), report_of(err))
        check(f"reads of {command}", 201, box.count("name = 'pread' AND file LIKE '%/data' AND bytes = 7"))
        check(f"reads by stdio of {command}", 1, box.count("name = 'fread' AND bytes = 50"))
        check(f"losses of {command}", 0, box.losses())


def test_functions_that_a_program_has_itself(box: Box) -> None:
    """They stand before ours, and libraries go on calling them; so do those of a sanitizer in the program."""
    programs = [box.kit.victim("own_functions", "-rdynamic")]
    if shutil.which("clang++"):
        programs.append(box.kit.victim("threads_of_cpp", "-fsanitize=thread", compiler="clang++"))
    for program in programs:
        box.trace = box.root / f"{program.name}.fathom"
        alone = box.start(program, "none")
        wanted = box.finish(alone, None)[0]
        check("output of libraries' calls", wanted, box.record(program, "none", status=alone.returncode))


def test_sanitizers(box: Box) -> None:
    """Programs built with sanitizers run and complain as without us, and are recorded: gcc's run-time libraries are
    shared, clang's are part of the program."""
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    for compiler in compilers:
        for sanitizer, bugs in SANITIZERS.items():
            program = box.kit.victim("sanitized", f"-fsanitize={sanitizer}", compiler=compiler)
            for bug in ("none", *bugs):
                expect_as_bare(box, program, bug)


def test_static_program_that_becomes_another(box: Box) -> None:
    """What it became was entered; what it was is told all the same."""
    program = box.kit.victim("becomes_another", "-static")
    box.record(program, "/bin/cat", "/dev/null")
    check("not covered", {program.name: "static binary"}, not_covered(box))
    check_true("calls of what it became", box.count("name = 'read'") > 0)
