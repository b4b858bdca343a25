# SPDX-License-Identifier: MIT
"""GPUs on the resource timeline, told by a management library without a GPU (tests/cuda/fake_nvml.c)."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from jobs import alone
from kit import Box, check, check_true
from test_cuda import CUDA, built

SLEEP = ("sleep", "1.3")


def library(box: Box, *flags: str) -> Path:
    folder = "nvml-old" if flags else "nvml"
    command = ("cc", "-O1", "-Wall", *flags, "-shared", "-fPIC", CUDA / "fake_nvml.c")
    return built(box, f"{folder}/libnvidia-ml.so.1", *command, "-Wl,-soname,libnvidia-ml.so.1")


def record(box: Box, *flags: str, **more: str) -> None:
    env = {"LD_LIBRARY_PATH": str(library(box, *flags).parent), "FAKE_NVML_LOG": str(box.dir / "log"), **more}
    box.run(box.kit.fathom, "run", "-q", "--layers", "resource", "--hz", 20, "-o", box.trace, "--", *SLEEP, env=env)


def values(box: Box) -> dict[str, tuple[str, float, bool]]:
    """Unit, greatest value and whether it is of a process, by name."""
    found = box.rows(
        "SELECT name, any_value(unit), max(value), bool_or(pid IS NOT NULL) FROM counters"
        " WHERE name LIKE 'gpu%' GROUP BY name"
    )
    return {str(name): (str(unit), float(value), bool(owned)) for name, unit, value, owned in found}


def test_what_they_tell(box: Box) -> None:
    """Of each device by itself; what one cannot tell is missing, and nothing else."""
    record(box)
    found = values(box)
    want = {
        "busy": ("percent", 40, False),
        "memory_busy": ("percent", 20, False),
        "memory_used": ("bytes", (1 << 29) - (1 << 20), False),
        "memory_total": ("bytes", 1 << 30, False),
        "power": ("W", 123.456, False),
        "temperature": ("C", 61, False),
        "clock": ("MHz", 1980, False),
        "memory_clock": ("MHz", 3201, False),
        "slowed": ("percent", 100, False),
        "sm_busy": ("percent", 2.5, False),
        "occupancy": ("percent", 3.5, False),
        "tensor_busy": ("percent", 5.5, False),
        "dram_busy": ("percent", 10.5, False),
        "fp32_busy": ("percent", 12.5, False),
        "fp16_busy": ("percent", 13.5, False),
        "nvlink_sent": ("bytes", 4096, False),
        "nvlink_received": ("bytes", 4096, False),
        "process_memory": ("bytes", 3 << 20, True),
        "process_busy": ("percent", 40, True),
    }
    for what, answer in want.items():
        check(what, answer, found.pop(f"gpu0_{what}"))
    check_true("counters", found["gpu0_energy"][1] >= 200)
    check("not told by GPM", False, "gpu0_fp64_busy" in found)
    steps = "value - lag(value) OVER (ORDER BY ts) AS step"
    rows = box.rows(f"SELECT min(step) > 0 FROM (SELECT {steps} FROM counters WHERE name = 'gpu1_pcie_received')")
    check("a counter of 32 bits goes on", [(True,)], rows)
    check("the other device", (50, 0), (found["gpu1_busy"][1], found["gpu1_slowed"][1]))
    absent = ("energy", "nvlink_sent", "nvlink_received", "process_busy", "sm_busy")
    check("what it does not tell", [], [what for what in absent if f"gpu1_{what}" in found])
    check(
        "whose",
        [("sleep",)],
        box.rows(
            "SELECT DISTINCT name FROM processes WHERE pid IN (SELECT pid FROM counters WHERE name LIKE 'gpu%process%')"
        ),
    )
    missing = "energy, nvlink_received, nvlink_sent, process_busy, what its parts do"
    check("facts", missing, box.info()["facts"]["gpu 1 does not tell"])
    check("name", "Fake H200 (GPU-00000000)", box.info()["facts"]["gpu 0"])


@alone("counts samples of a second")
def test_how_often(box: Box) -> None:
    """What is dear is asked once a second, and the library is left in order."""
    record(box)
    log = [line.split() for line in (box.dir / "log").read_text().splitlines()]
    counts = {key: int(number) for key, number in log}
    check("begun and ended", True, counts["init"] == counts["shutdown"])
    check("what was allocated", 0, counts["samples"])
    check_true(f"energy {counts['energy']}", 2 <= counts["energy"] <= 4)
    check_true(f"processes {counts['processes']}", counts["processes"] <= 16)
    check_true(f"busy {counts['busy']}", counts["busy"] > 3 * counts["energy"])


@alone("counts samples of a second")
def test_rates_as_bytes(box: Box) -> None:
    """GPM tells MiB a second: what was sent in all is half of what was received, as both rates are."""
    record(box)
    grown = {}
    for what in ("pcie_sent", "pcie_received"):
        ((grown[what], most, samples),) = box.rows(
            "SELECT max(value), max(step), count(*) FROM"
            f" (SELECT value, value - lag(value) OVER (ORDER BY ts) AS step FROM counters WHERE name = 'gpu0_{what}')"
        )
        check_true(f"{what}: {samples} samples", 2 <= samples <= 7)
        check_true(f"{what}: steps of 200 ms and more, not {most}", most is None or most > 12 << 20)
    check("twice as much", grown["pcie_received"], 2 * grown["pcie_sent"])


def test_shown(box: Box) -> None:
    """In the report, and as counters in Perfetto's and Chrome's formats."""
    record(box)
    text = box.fathom("report", box.trace, "resources").decode()
    titles = ("GPUs over time", "Parts of GPUs", "Memory of GPUs", "Power of GPUs")
    for words in (*titles, "GPU 0 busy", "GPU 1 busy", "NVLink, sent", "GPU 0 tensor cores"):
        check_true(f"report has no {words}", words in text)
    box.fathom("export", box.trace, "--format", "chrome", "-o", box.dir / "run.json")
    events = json.loads((box.dir / "run.json").read_text())
    names = {str(event["name"]) for event in (events["traceEvents"] if isinstance(events, dict) else events)}
    check_true("counters", any("gpu0_power" in name for name in names))


@alone("counts samples of a second")
def test_older_and_broken_drivers(box: Box) -> None:
    record(box, "-DOLD")
    found = values(box)
    check("memory", 1 << 29, found["gpu0_memory_used"][1])
    check("of the process", 3 << 20, found["gpu0_process_memory"][1])
    check_true("no fields", "gpu0_pcie_sent" not in found and "gpu0_energy" in found)
    shutil.rmtree(box.trace)
    record(box, FAKE_NVML="lost")
    rows = box.rows(
        "SELECT count(*) FILTER (name = 'gpu0_busy') > 5 * count(*) FILTER (name = 'gpu1_busy') FROM counters"
    )
    check("the other goes on", [(True,)], rows)


def test_none(box: Box) -> None:
    """Without a library, with one that refuses, and with one that never answers: no word, and the program goes on."""
    for wish in ("", "refuses", "hangs"):
        env = {"FAKE_NVML": wish, "LD_LIBRARY_PATH": str(library(box).parent) if wish else ""}
        command = [str(box.kit.fathom), "run", "--layers", "resource", "-o", str(box.trace), "--", "true"]
        done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=True)
        check(f"{wish}: words", [], [line for line in done.stderr.splitlines() if "gpu" in line.lower()])
        check(f"{wish}: counters", {}, values(box))
        check(f"{wish}: others", True, int(box.value("SELECT count(*) FROM counters WHERE name = 'cpu_user'")) > 0)
        shutil.rmtree(box.trace)
    facts = {row["fact"]: row for row in json.loads(box.fathom("doctor", "--format", "json"))["machine"]}
    check("asked", ("note", True), (facts["gpu"]["state"], "libnvidia-ml.so.1" in facts["gpu"]["found"]))


def test_in_a_container(box: Box) -> None:
    """The driver's numbers of processes are the machine's: nobody here is meant, and the recording says so."""
    if subprocess.run(["unshare", "-pf", "--mount-proc", "true"], capture_output=True).returncode != 0:
        box.not_emulated("no namespace of processes can be made here")
    env = {**os.environ, "LD_LIBRARY_PATH": str(library(box).parent), "FAKE_NVML_PIDS": "outside"}
    command = ["unshare", "-pf", "--mount-proc", box.kit.fathom, "run", "-q", "--layers", "resource"]
    subprocess.run([*map(str, command), "-o", str(box.trace), "--", *SLEEP], env=env, check=True)
    check("of processes", [], [name for name in values(box) if "process" in name])
    check("said", True, "gpu processes" in box.info()["facts"])
    check_true("of devices", "gpu0_busy" in values(box))
