# SPDX-License-Identifier: MIT
"""Commands as a user meets them: doctor's fix lines, and a recorder that dies."""

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

from kit import Box, Skipped, check, check_true


def doctor(output: bytes) -> dict[str, Any]:
    """The machine's facts by name."""
    answer = json.loads(output)
    rows = answer["machine"] if isinstance(answer, dict) and "machine" in answer else answer
    return {row["fact"]: row for row in rows if "fact" in row}


def test_doctor_fix_of_shared_memory(box: Box) -> None:
    """Where /dev/shm is not there, the line that doctor names brings it."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise Skipped("a mount namespace needs root and unshare")
    # doctor sees the folder's file system: without /dev there is no /dev/shm either.
    hide = "mount -t tmpfs none /dev && mkdir -p /dev/shm && rmdir /dev/shm"
    tell = f"{box.kit.fathom} doctor --format json"
    before = doctor(box.run("unshare", "-m", "sh", "-ec", f"{hide}; {tell}"))
    fix = before["/dev/shm"]["fix"]
    check_true(f"doctor names a line: {before}", bool(fix))
    after = doctor(box.run("unshare", "-m", "sh", "-ec", f"{hide}; mkdir /dev/shm; {fix}; {tell}"))
    check("state with the fix", "ok", after["/dev/shm"]["state"])


def test_doctor_fix_of_a_small_disk(box: Box) -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise Skipped("a mount namespace needs root and unshare")
    (box.dir / "small").mkdir()
    script = f"mount -t tmpfs -o size=1m none small; cd small; {box.kit.fathom} doctor --format json"
    state = doctor(box.run("unshare", "-m", "sh", "-ec", script))["disk"]
    check("state", "note", state["state"])
    check_true(f"fix {state['fix']}", "-o DIR" in state["fix"])


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
