# SPDX-License-Identifier: MIT
"""Programs that give up rights, or become another user: they live on as they would alone, and are recorded."""

import os
import shutil
import signal
import socket
import tempfile
from pathlib import Path

from jobs import alone
from kit import Box, Skipped, check, check_true

READS = "name IN ('read', 'pread') AND size = 13"
UNASKED = "could not be asked"
USER = 54321  # owns nothing


def run_alone(box: Box, *command: object) -> tuple[int, bytes]:
    process = box.start(*command)
    out, _ = box.finish(process, None)
    return process.returncode, out


def confined(box: Box, way: str, reads: int, processes: int = 1, number: int = 100) -> None:
    """Ends as it does alone, says nothing, and all of its reads are there."""
    box.not_emulated("qemu-user installs no filters")
    (box.dir / "sounding").write_bytes(bytes(40960))
    victim = box.kit.victim("confined")
    status, _ = run_alone(box, victim, way, number)
    if status != 0:
        raise Skipped(f"confined {way} does not work here without Fathom either: {status}")
    process = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", victim, way, number)
    check("stdout, stderr", (b"", b""), box.finish(process))
    check("reads", reads, box.count(READS))
    check("processes", processes, int(box.value(f"SELECT count(DISTINCT pid) FROM events WHERE {READS}")))


def test_filter(box: Box) -> None:
    """A filter that kills for any other call than read, write and exit: also many segments later."""
    number = 200000 if box.kit.full else 20000
    confined(box, "one-thread", 10 + number, number=number)
    check("losses", 0, box.losses())


def test_filter_by_syscall(box: Box) -> None:
    """As libseccomp does it, which asks first what there is."""
    confined(box, "through-syscall", 110)
    check("losses", 0, box.losses())


def test_threads_and_children_behind_a_filter(box: Box) -> None:
    """Whoever is made behind the filter knows its number without asking the kernel."""
    confined(box, "later", 210, processes=2)
    check("losses", 0, box.losses())
    check("threads with their numbers", 3, int(box.value(f"SELECT count(DISTINCT tid) FROM events WHERE {READS}")))
    parent, child = (row[0] for row in box.rows("SELECT pid FROM processes ORDER BY start"))
    check("the child's parent", parent, box.value(f"SELECT ppid FROM processes WHERE pid = {child}"))


def test_child_without_a_number(box: Box) -> None:
    """A child that was made behind libc's back, and behind a filter, does not know its number: its reads are losses."""
    confined(box, "raw-child", 10)
    check("lost reads", 100, box.lost("no room left inside a sandbox"))


@alone("behind a filter no pool can be made: whoever drains must keep up with four threads")
def test_filter_for_all_threads(box: Box) -> None:
    """The door is shut while four threads ask the kernel for positions all the time."""
    box.not_emulated("qemu-user installs no filters")
    (box.dir / "sounding").write_bytes(bytes(40960))
    victim = box.kit.victim("confined")
    for number in range(10 if box.kit.full else 3):
        box.trace = box.root / f"trace-{number}.fathom"
        box.record(victim, "all-threads")
        check("reads at a place", 10 + 4 * 100, box.count("name = 'pread' AND size = 13"))
        check("events lost", 0, box.losses() - box.lost(UNASKED))


def test_handlers_behind_a_filter(box: Box) -> None:
    """Handlers on a stack of their own, some left by longjmp, interrupt the writing of records."""
    box.not_emulated("qemu-user installs no filters")
    (box.dir / "sounding").write_bytes(bytes(40960))
    number = 200000 if box.kit.full else 30000
    box.record(box.kit.victim("confined"), "handlers", number)
    check_true("reads or losses", box.count(READS) + box.losses() >= 10 + number - 200)


def test_names_behind_a_filter(box: Box) -> None:
    """A file that is opened behind the filter has its name, but where it stands cannot be asked for: counted."""
    confined(box, "by-name", 110)
    check("reads with a name", 100, box.count(f"{READS} AND name = 'read' AND file LIKE '%/sounding'"))
    check("reads with an offset", 0, box.count(f"{READS} AND name = 'read' AND \"offset\" IS NOT NULL"))
    check("counted", 100, box.lost(UNASKED))


def test_strict_mode(box: Box) -> None:
    """read, write and exit, and no counter of the CPU's either. What was open before has its positions."""
    confined(box, "strict", 110)
    check("reads with an offset", 100, box.count("name = 'read' AND \"offset\" IS NOT NULL"))
    check("losses", 0, box.losses())


def test_without_counter(box: Box) -> None:
    """PR_SET_TSC: rdtsc faults, and so do the fine clocks of the vDSO."""
    confined(box, "no-counter", 210, processes=2)
    check("losses", 0, box.losses())
    check("events that end before they begin", 0, box.count("dur < 0 OR dur > 60e9"))


def test_without_counter_and_calls(box: Box) -> None:
    confined(box, "no-counter-and-calls", 110)
    check("losses", 0, box.losses())


def test_asking_confines_nobody(box: Box) -> None:
    """Programs ask whether there are filters, by one that is none: they are recorded as ever."""
    confined(box, "asks", 110)
    check("reads with an offset", 100, box.count("name = 'read' AND \"offset\" IS NOT NULL"))
    check("losses", 0, box.losses())


def test_program_behind_a_filter(box: Box) -> None:
    """A program that starts behind a filter is left alone: nobody knows what kills it. The recording says so."""
    confined(box, "program", 10)
    check("reasons", ["started inside a sandbox (seccomp)"], [one["reason"] for one in box.info()["not_covered"]])


def test_vfork_behind_a_filter(box: Box) -> None:
    """The child of a vfork confines itself, in memory that is its parent's: the parent goes on as ever."""
    confined(box, "vfork", 110)
    check("reads with an offset", 100, box.count("name = 'read' AND \"offset\" IS NOT NULL"))
    reasons = [program["reason"] for program in box.info()["not_covered"]]
    check("the program that the child became", ["started inside a sandbox (seccomp)"], reasons)


def test_landlock(box: Box) -> None:
    """No file can be opened for writing any more: the next program gets the spool from the recorder."""
    confined(box, "landlock", 310, processes=2)
    check("losses, not covered", (0, []), (box.losses(), box.info()["not_covered"]))


def test_real_sandboxes(box: Box) -> None:
    """Installed programs that confine themselves before they touch what is foreign."""
    commands: list[list[str]] = [
        ["man", "-w", "ls"],
        ["file", "-b", "/bin/true"],
        ["stress-ng", "--seccomp", "1", "--seccomp-ops", "20", "-q"],
        ["sshd", "-t", "-f", "/dev/null", "-h", "ssh_host_key"],
    ]
    there = [command for command in commands if shutil.which(command[0])]
    if not there:
        raise Skipped("none of man, file, stress-ng and sshd is installed")
    for number, command in enumerate(there):
        command[0] = str(shutil.which(command[0]))
        if command[0].endswith("sshd"):
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
            box.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "ssh_host_key")
        wanted = run_alone(box, *command)
        process = box.start(box.kit.fathom, "run", "-q", "-o", box.root / f"t{number}", "--", *command)
        out, _ = box.finish(process, None)
        check(f"{command[0]}: status, stdout", wanted, (process.returncode, out))


def ssh_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_sshd_login(box: Box) -> None:
    """The child of sshd that talks to strangers is another user, in a root of its own, behind a filter that kills."""
    sshd = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
    if os.geteuid() != 0 or not sshd or not shutil.which("ssh"):
        raise Skipped("needs root, sshd and ssh (apt install openssh-server)")
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    for name in ("host", "user"):
        box.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name)
    port = ssh_port()
    settings = {
        "HostKey": box.dir / "host",
        "AuthorizedKeysFile": box.dir / "user.pub",
        "ListenAddress": f"127.0.0.1:{port}",
        "PidFile": box.dir / "sshd.pid",
        "StrictModes": "no",
        "UsePAM": "no",
        "PermitRootLogin": "yes",
    }
    (box.dir / "config").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    daemon = [sshd, "-D", "-e", "-f", box.dir / "config"]
    process = box.start(box.kit.fathom, "run", "-q", "-o", box.trace, "--", *daemon)
    box.wait_for("daemon", lambda: (box.dir / "sshd.pid").exists())
    options = ["StrictHostKeyChecking=no", f"UserKnownHostsFile={box.dir}/known", "IdentitiesOnly=yes", "BatchMode=yes"]
    words = [word for option in options for word in ("-o", option)]
    login = ["ssh", "-q", *words, "-i", box.dir / "user", "-p", port, "root@127.0.0.1", "echo inside"]
    check("what the login said", b"inside\n", box.run(*login))
    os.kill(int((box.dir / "sshd.pid").read_text()), signal.SIGTERM)
    box.finish(process, None)
    check_true("processes of the daemon", int(box.value("SELECT count(*) FROM processes WHERE name = 'sshd'")) >= 3)


# --- another user


def public_place(box: Box) -> Path:
    """Where another user can read what a victim reads, and the victim itself."""
    if os.geteuid() != 0:
        raise Skipped("only root can become another user")
    if not shutil.which("setpriv"):
        raise Skipped("no setpriv here")
    place = Path(tempfile.mkdtemp(prefix="fathom-user-"))
    place.chmod(0o755)
    box.remove.append(place)
    (place / "sounding").write_bytes(bytes(40960))
    shutil.copy(box.kit.victim("other_user"), place / "other_user")
    box.dir = place
    become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    if run_alone(box, *become, "test", "-r", box.kit.library)[0] != 0:
        raise Skipped("the build lies where other users cannot enter")
    return place


def as_user(*command: object) -> list[object]:
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command]


def expect_whole(box: Box, reads: int) -> None:
    check("reads", reads, box.count(READS))
    check("losses", 0, box.losses())
    check("not covered", [], box.info()["not_covered"])
    for path in box.trace.rglob("*.parquet"):
        check("owner of what was recorded", os.geteuid(), path.stat().st_uid)


def test_started_as_another_user(box: Box) -> None:
    """setpriv, gosu, su: the program cannot open the spool, and gets what it needs from the recorder, its threads
    many a pool."""
    place = public_place(box)
    box.record(*as_user(place / "other_user", 0, 100, 60))
    expect_whole(box, 100 * (1 + 60 + 1 + 1))


def test_becomes_another_user(box: Box) -> None:
    """A service that gives up root: itself, its threads, its children and the programs that they start."""
    place = public_place(box)
    box.record(place / "other_user", USER, 100, 60)
    expect_whole(box, 100 * (1 + 60 + 1 + 1))


def test_another_user_unsupervised(box: Box) -> None:
    """Nobody is there to hand out the spool: the program runs as ever, and the recording tells why it is not in it."""
    place = public_place(box)
    box.run("sh", "-c", '"$@"; exit $?', "sh", *as_user(place / "other_user", 0, 100), env=box.unsupervised())
    check("reads", 0, box.count(READS))
    reasons = [one["reason"] for one in box.info()["not_covered"]]
    check("reasons", ["another user, who may not write to the recording"], reasons)


def test_chromium(box: Box) -> None:
    """A browser whose parts confine themselves one by one, as a user without rights, and without its sandbox."""
    if not shutil.which("chromium"):
        raise Skipped("no chromium here")
    place = public_place(box)
    (place / "page.html").write_text("<p id=said></p><script>said.textContent = 6 * 7</script>")
    home = place / "home"
    home.mkdir()
    home.chmod(0o777)
    for options in [[], ["--no-sandbox"]] if box.kit.full else [[]]:
        words = ["--headless", "--disable-gpu", "--dump-dom", *options, f"file://{place}/page.html"]
        command = as_user("env", f"HOME={home}", "timeout", "60", "chromium", *words)
        status, page = run_alone(box, *command)
        if status != 0 or b">42<" not in page:
            raise Skipped(f"chromium {' '.join(options)} shows no page here without Fathom either")
        box.trace = box.root / f"trace{len(options)}.fathom"
        check_true("the page", b">42<" in box.record(*command))
        check_true("processes of the browser", int(box.value("SELECT count(*) FROM processes")) >= 3)
