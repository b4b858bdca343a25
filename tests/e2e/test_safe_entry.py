# SPDX-License-Identifier: MIT
"""How the library comes into programs, and when it stays out: own allocators, other libcs, trusted programs."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from kit import INCLUDE, VICTIMS, Box, Failure, Skipped, check, check_true

READS = "name = 'pread' AND size = 10"
ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2")
HEAP = ("--layers", "app,stdio,posix,heap")
SOON_S = 20


def compiled(*command: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skipped(f"{command[0]} cannot do this here: {done.stderr.strip()[-200:]}")


def need(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise Skipped(f"no {program} here")
    return found


def soon(box: Box, *command: object, env: dict[str, str] | None = None) -> tuple[int, bytes, bytes]:
    """Status and output of a program that must not hang."""
    process = box.start(*command, env=env)
    try:
        out, err = process.communicate(timeout=SOON_S)
    except subprocess.TimeoutExpired:
        raise Failure(f"no end within {SOON_S} s: {process.args!r}") from None
    return process.returncode, out, err


def records_reads(box: Box, program: object, env: dict[str, str] | None = None) -> None:
    """The same with the hooks of layer heap."""
    for options in ((), HEAP):
        shutil.rmtree(box.trace, ignore_errors=True)
        recorder = (box.kit.fathom, "run", "-q", *options, "-o", box.trace, "--")
        check("status and output", (0, b"300 reads\n", b""), soon(box, *recorder, program, 300, env=env))
        check("reads", 300, box.count(READS))


def test_allocator_that_locks_around_everything(box: Box) -> None:
    box.not_emulated("the recorder starts it")
    records_reads(box, box.kit.victim("locked_malloc", "-fno-builtin"))


def test_allocator_in_a_library(box: Box) -> None:
    """Its initialisation comes before ours, and meets the hooks first."""
    box.not_emulated("the recorder starts it")
    library, program, source = box.dir / "liballocator.so", box.dir / "program", VICTIMS / "locked_malloc.c"
    flags = ("cc", "-g", "-O1", "-pthread", "-fno-builtin")
    compiled(*flags, "-shared", "-fPIC", "-DONLY_ALLOCATOR", source, "-o", library)
    compiled(*flags, "-DONLY_PROGRAM", source, "-o", program, "-Wl,--no-as-needed", library, f"-Wl,-rpath,{box.dir}")
    records_reads(box, program)


def test_allocators_that_programs_are_linked_with(box: Box) -> None:
    box.not_emulated("the recorder starts it")
    source, tried = VICTIMS / "locked_malloc.c", 0
    for name in ALLOCATORS:
        program = box.dir / name.split(".")[0]
        try:
            compiled("cc", "-pthread", "-DONLY_PROGRAM", source, "-o", program, "-Wl,--no-as-needed", f"-l:{name}")
        except Skipped:
            continue
        tried += 1
        records_reads(box, program)
        records_reads(box, box.kit.victim("locked_malloc", "-DONLY_PROGRAM"), env={"LD_PRELOAD": name})
    if tried == 0:
        raise Skipped("no jemalloc, tcmalloc or mimalloc here")


def test_real_programs_with_allocators(box: Box) -> None:
    """Redis, the name server's tools and browsers hung before main."""
    box.not_emulated("the recorder starts them")
    words = {"redis-server": "--version", "dig": "-v", "varnishd": "-V", "chromium": "--version"}
    found = {name: word for name, word in words.items() if shutil.which(name)}
    if not found:
        raise Skipped(f"none of {', '.join(words)} here")
    for name, word in found.items():
        recorder = (box.kit.fathom, "run", "-q", "--force", "-o", box.trace, "--")
        check(name, soon(box, name, word), soon(box, *recorder, name, word))


def foreigner(box: Box, kind: str) -> Path:
    program = box.dir / f"foreigner-{kind}"
    compiler = [need("musl-gcc")] if kind == "musl" else ["cc", "-m32"]
    compiled(*compiler, "-o", program, VICTIMS / "environment.c")
    return program


WAYS = (
    "execve",
    "execv",
    "execvp",
    "execvpe",
    "execl",
    "execlp",
    "execle",
    "fexecve",
    "execveat",
    "spawn",
    "spawnp",
    "vfork",
)


def test_programs_of_another_libc_by_every_way(box: Box) -> None:
    """Their loader would end them: they get all of their environment but us, and the recording says why."""
    box.not_emulated("it execs")
    program, ways = foreigner(box, "musl"), box.kit.victim("ways_in")
    variables = {"PATH": f"{box.dir}:{os.environ['PATH']}", "KEPT": "1"}
    many = {f"VARIABLE_{i}": str(i) for i in range(100)}
    recorder = (box.kit.fathom, "run", "-q", "--force", "-o", box.trace, "--")
    for way in WAYS:
        searched = way in ("execvp", "execvpe", "execlp", "spawnp", "execveat")
        named = program.name if searched else program
        got = soon(box, *recorder, ways, way, named, box.dir, env=variables | many)
        if way == "execveat" and got[0] == 97:
            continue  # not in this libc
        turns = 20 if way == "vfork" else 1
        check(way, (7, b"- 1\n" * turns, b""), got)
        reasons = [one["reason"] for one in box.info()["not_covered"] if one["program"] == str(program)]
        check(f"reasons ({way})", ["another libc (/lib/ld-musl-"], [reason[:27] for reason in reasons[:1]])


def test_programs_of_another_word_size(box: Box) -> None:
    """The loader would complain on their stderr. Scripts are what their interpreters are."""
    box.not_emulated("it execs")
    program = foreigner(box, "32")
    script = box.dir / "script"
    script.write_text(f"#!{program}\n")
    script.chmod(0o755)
    for command in ((program,), (script,), ("sh", "-c", f"{program}; exit $?"), ("sh", "-c", f"{script}; exit $?")):
        shutil.rmtree(box.trace, ignore_errors=True)
        got = soon(box, box.kit.fathom, "run", "-q", "-o", box.trace, "--", *command, env={"KEPT": "1"})
        check(f"{command[0]}", (7, b"- 1\n", b""), got)
        check("reasons", ["32 bits"], [one["reason"] for one in box.info()["not_covered"]])


def test_other_preloads_stay(box: Box) -> None:
    """Who preloads something of his own keeps it, wherever the library is left out."""
    box.not_emulated("it execs")
    program, ways = foreigner(box, "32"), box.kit.victim("ways_in")
    preloads = f"{box.kit.library}:/nowhere/other.so {box.kit.library}"
    out = soon(box, ways, "spawn", program, env={"LD_PRELOAD": preloads, "FATHOM_OUT": str(box.trace)})[1]
    check("what it was given", b"/nowhere/other.so -\n", out)


def test_another_root(box: Box) -> None:
    """There the library is not, and the loader has nothing to complain about."""
    box.not_emulated("it execs")
    if os.geteuid() != 0:
        raise Skipped("only root changes its root")
    jail, program = box.dir / "jail", box.kit.victim("environment")
    jail.mkdir()
    shutil.copy(program, jail / "program")
    for path in re.findall(r"(/\S+) \(0x", box.run("ldd", program).decode()):
        (jail / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, jail / path[1:])
    ways = box.kit.victim("ways_in")
    got = soon(box, box.kit.fathom, "run", "-q", "-o", box.trace, "--", ways, "chroot", "/program", jail)
    check("status and output", (7, b"- -\n", b""), got)
    reasons = [one["reason"] for one in box.info()["not_covered"]]
    check("reasons", ["another root, which has no libfathom.so"], reasons)


def test_trusted_programs_are_not_recorded(box: Box) -> None:
    """A set-user-id program linked with the library obeys no variable of its caller's."""
    box.not_emulated("it is linked with the library of this machine")
    if os.geteuid() != 0:
        raise Skipped("only root gives its rights away")
    need("setpriv")
    place = Path(box.run("mktemp", "-d", "/tmp/fathom-trusted-XXXXXX").decode().strip())
    box.remove.append(place)
    place.chmod(0o777)
    shutil.copy(box.kit.build / "libfathom.so", place)
    program = place / "trusted"
    linked = ("-Wl,--no-as-needed", place / "libfathom.so", f"-Wl,-rpath,{place}")
    compiled("cc", f"-I{INCLUDE}", "-o", program, VICTIMS / "reader.c", *linked)
    stranger = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "5", place / "data")
    wishes = {"FATHOM_OUT": str(place / "mine"), "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(place / "log")}
    (place / "data").touch(mode=0o666)
    (place / "data").chmod(0o666)
    for mode, made in ((0o4755, False), (0o2755, False), (0o755, True)):
        program.chmod(mode)
        box.run(*stranger, env=wishes)
        names = {path.name for path in place.iterdir()} - {"libfathom.so", "trusted", "data"}
        check(f"something is made (mode {mode:o})", made, bool(names))


def test_sizes_that_are_none(box: Box) -> None:
    box.not_emulated("the header is the recorder's")
    reader = box.kit.victim("reader")
    box.run(box.kit.fathom, "run", "-o", box.trace, "--", reader, 5, status=2, env={"FATHOM_SPOOL_MAX": "lots"})
    check_true("the program has not run", not (box.dir / "data").exists())
    box.run(reader, 5, env=box.unsupervised() | {"FATHOM_SPOOL_MAX": "1.2.3G"})
    check("reads", 5, box.count("name = 'pread'"))
    words = "'1.2.3G' is not a size; the spool could take 4 GiB"
    check("facts, in the spool", {"FATHOM_SPOOL_MAX": words}, box.info()["facts"])
    box.fathom("collect", box.trace)
    check("facts, packed", {"FATHOM_SPOOL_MAX": words}, box.info()["facts"])


def test_hardly_any_stack(box: Box) -> None:
    """A preloaded library makes the loader need more stack than there is: the program goes without, and it is told."""
    box.not_emulated("it execs")
    need("prlimit")
    command = ("prlimit", "--stack=16384:16384", box.kit.victim("reader"), 5)
    for _ in range(4):  # where the stack begins differs from run to run
        if soon(box, *command)[0] != 0:
            raise Skipped("programs do not always start with 16 KiB of stack here")
        shutil.rmtree(box.trace, ignore_errors=True)
        recorder = (box.kit.fathom, "run", "-q", "-o", box.trace, "--")
        check("status and output", (0, b"5 reads\n", b""), soon(box, *recorder, *command))
    check("losses", 1, box.losses())
    reasons = [one["reason"] for one in box.info()["not_covered"]]
    check("reasons", ["a stack too small to load a library"], reasons)


def test_libc_of_debian_11(box: Box) -> None:
    """glibc 2.31, whose threads and loader are libraries of their own."""
    box.not_emulated("it is a root of this machine")
    if not box.kit.full:
        raise Skipped("takes minutes: tests/run --full")
    if os.geteuid() != 0:
        raise Skipped("only root changes its root")
    root = box.dir / "bullseye"
    compiled(need("debootstrap"), "--variant=minbase", "bullseye", root)
    for library in ("libfathom.so", "libfathom_heap.so", "libpfinterpose.so", "libdftracer.so", "libdftracer_core.so"):
        shutil.copy(box.kit.build / library, root)
        box.trace = root / library.split(".")[0]
        variables = {"LD_PRELOAD": f"/{library}", "FATHOM_OUT": f"/{box.trace.name}"}
        out = soon(box, "chroot", root, "env", *(f"{key}={value}" for key, value in variables.items()),
                   "bash", "-c", "ls /etc > /dev/null; perl -e 'print 1 + 1'")  # fmt: skip
        check(library, (0, b"2", b""), out)
        check_true(f"processes are recorded ({library})", int(box.value("SELECT count(*) FROM processes")) >= 3)


def test_a_relative_place_is_one_place(box: Box) -> None:
    """Whoever a program starts joins its run, wherever that begins; a value of the program's own stays."""
    box.not_emulated("it execs")
    (box.dir / "sub").mkdir()
    library = {"LD_PRELOAD": str(box.kit.library), "FATHOM_OUT": "run.fathom"}
    box.run("sh", "-c", "cd sub; cat /etc/hostname; exec env cat /etc/hostname", env=library)
    check("recordings", [box.dir / "run.fathom"], sorted(box.dir.rglob("*.fathom")))
    box.fathom("collect", "run.fathom")
    info = json.loads(box.fathom("info", "run.fathom", "--format", "json"))
    check("not covered", [], info["not_covered"])
    cats = "SELECT count(*) AS n FROM processes WHERE name = 'cat'"
    check("of cat", 2, json.loads(box.fathom("sql", "run.fathom", cats, "--format", "json"))[0]["n"])
    box.run("sh", "-c", "cd sub; FATHOM_OUT=own.fathom cat /etc/hostname", env=library | {"FATHOM_OUT": "two.fathom"})
    check("its own", [box.dir / "sub" / "own.fathom"], sorted((box.dir / "sub").iterdir()))
