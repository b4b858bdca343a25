# SPDX-License-Identifier: MIT
"""Commands as a user meets them: doctor's fix lines, and a recorder that dies."""

import json
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from jobs import alone
from kit import Box, Skipped, check, check_true

Rows = dict[str, dict[str, Any]]


def doctor(output: bytes) -> Rows:
    """The facts and layers by name."""
    answer = json.loads(output)
    return {row.get("fact", row.get("layer")): row for table in answer.values() for row in table}


def in_namespace(box: Box, prepare: str, as_user: str = "", fathom: Path | None = None) -> tuple[Rows, Rows, str]:
    """What doctor says after `prepare`, and after the line that it then names for `{row}` has been typed."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise Skipped("a mount namespace needs root and unshare")
    tell = f"{as_user} {fathom or box.kit.fathom} doctor --format json"
    script = f"""
        {prepare}
        {tell} > "$ROOT/before"
        fix=$(python3 -c '{FIND_FIX}' "$ROOT/before" "$ROW")
        printf %s "$fix" > "$ROOT/fix"
        eval "$fix"
        {tell} > "$ROOT/after"
    """
    row = prepare.split()[1]
    box.run("unshare", "-m", "sh", "-ec", script, env={"ROOT": str(box.root), "ROW": row})
    texts = [(box.root / name).read_bytes() for name in ("before", "after")]
    return doctor(texts[0]), doctor(texts[1]), (box.root / "fix").read_text()


FIND_FIX = """
import json, sys
tables = json.load(open(sys.argv[1]))
rows = {row.get("fact", row.get("layer")): row for table in tables.values() for row in table}
print(rows[sys.argv[2]]["fix"])
"""


def expect_fixed(box: Box, row: str, states: tuple[str, str], prepare: str, **how: Any) -> tuple[Rows, Rows, str]:
    """The state of a row before and after its own fix line was typed."""
    before, after, fix = in_namespace(box, f": {row}\n{prepare}", **how)
    check(f"{row} before and after '{fix}'", states, (before[row]["state"], after[row]["state"]))
    check_true(f"a reason: {before[row]}", bool(before[row].get("found") or before[row].get("reason")))
    check(f"fix of {row} when all is well", None, after[row]["fix"])
    return before, after, fix


def test_doctor_fix_of_shared_memory(box: Box) -> None:
    """Where /dev/shm is missing, read-only or tiny, the line that doctor names changes that."""
    expect_fixed(box, "/dev/shm", ("note", "ok"), "mount -t tmpfs none /dev")
    expect_fixed(box, "/dev/shm", ("note", "ok"), "mount -t tmpfs -o ro none /dev/shm")
    expect_fixed(box, "/dev/shm", ("note", "ok"), "mount -t tmpfs -o size=1m none /dev/shm")


def test_doctor_fix_of_a_small_disk(box: Box) -> None:
    (box.dir / "small").mkdir()
    _, _, fix = expect_fixed(box, "disk", ("note", "ok"), "mount -t tmpfs -o size=1m none small; cd small")
    check_true(fix, fix.startswith("cd /"))


NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"


def for_everybody(box: Box) -> Path:
    """A copy of the program that every user may run."""
    place = Path(tempfile.mkdtemp(prefix="fathom-doctor-"))
    box.remove.append(place)
    place.chmod(0o755)
    for name in ("fathom", "libfathom.so", "libduckdb.so"):
        shutil.copy(box.kit.build / name, place / name)
    return place


def test_doctor_as_another_user(box: Box) -> None:
    """A directory that may not be written; lines that need root say so."""
    fathom = for_everybody(box) / "fathom"
    prepare = "cd /usr; export HOME=/nonexistent; unset TMPDIR"
    before, _, _ = expect_fixed(box, "disk", ("missing", "ok"), prepare, as_user=NOBODY, fathom=fathom)
    for layer in ("app", "stdio", "posix", "resource"):
        check(layer, "available", before[layer]["state"])
    hide = f"mount -t tmpfs none /dev; {NOBODY} {fathom} doctor --format json"
    fix = doctor(box.run("unshare", "-m", "sh", "-ec", hide))["/dev/shm"]["fix"]
    check_true(fix, fix.startswith("sudo sh -c 'mkdir"))


def test_doctor_without_proc(box: Box) -> None:
    """No /proc: no resources, and the library is found all the same."""
    prepare = "mount -t tmpfs none /proc"
    before, after, _ = expect_fixed(box, "resource", ("unavailable", "available"), prepare)
    check("/proc", ("missing", "ok"), (before["/proc"]["state"], after["/proc"]["state"]))
    check("posix", "available", before["posix"]["state"])
    check("the other line is the same", before["resource"]["fix"], before["/proc"]["fix"])


def test_doctor_fix_of_the_library(box: Box) -> None:
    """Missing, unreadable, damaged, or where nothing may be executed: the layers and the machine tell the same."""
    path = f"export PATH={box.kit.build}:$PATH"
    place = for_everybody(box)
    fathom, library = place / "fathom", place / "libfathom.so"
    library.unlink()
    before, after, _ = expect_fixed(box, "library", ("missing", "ok"), path, fathom=fathom)
    for layer in ("app", "stdio", "posix"):
        check(layer, ("unavailable", "available"), (before[layer]["state"], after[layer]["state"]))
        check(f"fix of {layer}", before["library"]["fix"], before[layer]["fix"])
    library.unlink()
    library.write_bytes(box.kit.library.read_bytes()[:100])
    expect_fixed(box, "posix", ("unavailable", "available"), path, fathom=fathom)
    library.unlink()
    noexec = f"mkdir -p {place}/n; mount -t tmpfs -o noexec none {place}/n; cp {box.kit.library} {place}/n/"
    library.symlink_to(place / "n" / "libfathom.so")
    expect_fixed(box, "library", ("broken", "ok"), noexec, fathom=fathom)
    library.unlink()
    shutil.copy(box.kit.library, library)
    library.chmod(0o600)
    state = doctor(box.run(*NOBODY.split(), fathom, "doctor", "--format", "json"))["app"]
    check("unreadable", ("unavailable", f"sudo chmod a+r {library}"), (state["state"], state["fix"]))
    box.run(*state["fix"].split()[1:])
    state = doctor(box.run(*NOBODY.split(), fathom, "doctor", "--format", "json"))["app"]
    check("readable", "available", state["state"])


def test_doctor_fix_of_duckdb(box: Box) -> None:
    place = for_everybody(box)
    (place / "libduckdb.so").unlink()
    path = f"export PATH={box.kit.build}:$PATH"
    expect_fixed(box, "duckdb", ("missing", "ok"), path, fathom=place / "fathom")


@alone("the recorder must have begun within a moment")
def test_recorder_dies_while_the_program_waits(box: Box) -> None:
    """--when-full block: a program that waits for its recorder goes on when that is dead."""
    recorder = box.start(
        box.kit.fathom, "run", "-q", "--spool-max", "300K", "--when-full", "block", "-o", box.trace,
        "--", box.kit.victim("reader"), 3_000_000,
    )  # fmt: skip
    time.sleep(0.3)
    os.kill(recorder.pid, signal.SIGKILL)
    recorder.wait()
    box.wait_for("end of the program", lambda: not alive(box), 60)


def alive(box: Box) -> bool:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == box.dir:
                return True
        except OSError:
            continue
    return False


def resource_layer(box: Box) -> tuple[str, str | None]:
    return box.rows("SELECT state, reason FROM layers WHERE layer = 'resource'")[0]


@alone("counts samples of two seconds")
def test_collect_samples_resources(box: Box) -> None:
    """What unsupervised programs and their children use is sampled while they are collected."""
    script = "sleep 2 & env -i sleep 2 & sleep 2; wait"
    process = box.start("sh", "-c", script, env=box.unsupervised())
    box.wait_for("pool", lambda: any((box.trace / "spool").glob("*.pool")))
    box.fathom("collect", "-q", "--hz", 20, box.trace)
    box.finish(process)
    commands = dict(box.rows("SELECT pid, max(command) FROM processes GROUP BY pid"))
    sampled = [row[0] for row in box.rows("SELECT DISTINCT pid FROM counters WHERE name = 'rss' AND pid IS NOT NULL")]
    check_true(f"the shell is sampled: {sampled}", process.pid in sampled)
    check("all are, and no other", (4, set()), (len(sampled), set(sampled) - set(commands)))
    samples = box.value(f"SELECT count(*) FROM counters WHERE name = 'rss' AND pid = {process.pid}")
    check_true(f"samples of 2 s: {samples}", samples >= 5)
    check("layer", "on", resource_layer(box)[0])


def test_collect_too_late_for_resources(box: Box) -> None:
    box.run(box.kit.victim("reader"), 100, env=box.unsupervised())
    box.fathom("collect", "-q", box.trace)
    state, reason = resource_layer(box)
    check("state", "unavailable", state)
    check_true(f"reason: {reason}", "had ended" in str(reason))


def test_existing_preload_is_kept(box: Box) -> None:
    """Another preloaded library stays, behind ours."""
    other = box.kit.victim("plugin", "-shared", "-fPIC", "-DWHO=anna")
    process = box.start(
        box.kit.fathom,
        "run",
        "-q",
        "-o",
        box.trace,
        "--",
        "sh",
        "-c",
        "echo $LD_PRELOAD",
        env={"LD_PRELOAD": str(other)},
    )
    out, _ = box.finish(process)
    check("LD_PRELOAD", f"{box.kit.library}:{other}\n", out.decode())
