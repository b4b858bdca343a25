# SPDX-License-Identifier: MIT
"""Ranges and marks that programs tell by NVTX, as events of layer app."""

import subprocess
import sys
import zipfile
from pathlib import Path

from jobs import only_one
from kit import Box, Skipped, check, check_true
from test_cuda import CUDA, built

REAL = """
#include <nvtx3/nvToolsExt.h>
int main(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("real");
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  event.payload.iValue = -3;
  nvtxRangePushA("outer");
  nvtxDomainRangePushEx(domain, &event);
  nvtxMarkA("mark");
  nvtxDomainRangePop(domain);
  nvtxRangePop();
  nvtxRangeEnd(nvtxRangeStartA("started"));
  return 0;
}
"""
PEER = """
import nvtx
@nvtx.annotate("decorated", color="blue", domain="python")
def work():
    with nvtx.annotate("inside", category="copies"):
        nvtx.mark("moment")
for _ in range(3): work()
nvtx.end_range(nvtx.start_range("started"))
"""


def program(box: Box) -> Path:
    return built(box, "nvtx-program", "cc", "-O1", "-Wall", "-pthread", CUDA / "nvtx_program.c", "-ldl")


def wheel(box: Box, name: str) -> Path:
    """A package as PyPI has it, unpacked; skipped where it cannot be had."""
    folder = box.kit.build / "cuda-wheels" / name
    with only_one(folder):
        if not (folder / "done").exists():
            folder.mkdir(parents=True, exist_ok=True)
            fetch_wheel(folder)
            (folder / "done").touch()
    return folder


def fetch_wheel(folder: Path) -> None:
    lines = (CUDA / "requirements.txt").read_text().split()
    wanted = next(line for line in lines if line.split("=")[0] == folder.name)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check"]
    if subprocess.run([*command, "-d", str(folder), wanted], capture_output=True, timeout=100).returncode != 0:
        raise Skipped(f"{folder.name} cannot be had by pip here")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extractall(folder)


def record(box: Box, *command: object, layers: str = "app,posix", **more: str) -> bytes:
    words = (box.kit.fathom, "run", "-q", "--force", "--layers", layers, "-o", box.trace, "--", *command)
    return box.run(*words, env=more)


def ranges(box: Box) -> list[tuple[object, ...]]:
    what = "name, category, depth, dur > 0, args['category'], args['payload']"
    return box.rows(f"SELECT {what} FROM events WHERE layer = 'app' ORDER BY ts")


def test_ranges_and_marks(box: Box) -> None:
    out = record(box, program(box)).decode().splitlines()
    check("returned", ["ready 1 1", "levels 0 1 1 0 -2", "same domain 1", "different 1"], out)
    want = [
        ("by the other copy", "nvtx", 0, True, None, None),
        ("outer", "nvtx", 0, True, None, None),
        ("inner", "nvtx", 1, True, None, None),
        ("batch", "nvtx:loader", 0, True, "input", "42"),
        ("compute", "nvtx", 1, True, None, None),
        ("größe", "nvtx", 0, True, "9", "1.5"),
        ("batch", "nvtx:loader", 0, False, None, None),
        ("here", "nvtx", 0, False, None, None),
        ("own", "nvtx", 0, True, None, None),
        ("handed over", "nvtx", 0, True, None, None),
        ("in a thread", "nvtx", 0, True, None, None),
    ]
    check("events", want, ranges(box))
    check("calls inside are deeper", [(1,)], box.rows("SELECT depth FROM events WHERE name = 'access'"))
    rows = box.rows("SELECT args['started_by'] = pid::VARCHAR, tid <> pid FROM events WHERE name = 'handed over'")
    check("of two threads", [(True, True)], rows)


def test_many(box: Box) -> None:
    """Deeper than there is room for, and each with a name of its own."""
    record(box, program(box), "deep")
    check("deep", 4096, box.count("name = 'deep'"))
    check("lost", 904, box.lost("deep"))
    check("names", 5000, box.count("name LIKE 'step %'"))
    check("depth", [(0, 0)], box.rows("SELECT min(depth), max(depth) FROM events WHERE name LIKE 'step %'"))


def test_only_where_it_is_asked_for(box: Box) -> None:
    check("layer off", b"ready 0 0\n", record(box, program(box), layers="posix"))
    out = record(box, "sh", "-c", "echo $NVTX_INJECTION64_PATH", NVTX_INJECTION64_PATH="/opt/other.so")
    check("another tool's", b"/opt/other.so\n", out)
    check("nobody records", b"ready 0 0\n", box.run(program(box), env={"NVTX_INJECTION64_PATH": str(box.kit.library)}))
    env = {**box.unsupervised(), "NVTX_INJECTION64_PATH": str(box.kit.library)}
    box.run("rm", "-rf", box.trace)
    check("unsupervised", b"ready 1 1\n", box.run(program(box), "deep", env=env))


def test_the_real_headers(box: Box) -> None:
    source = box.dir / "real.c"
    source.write_text(REAL)
    for name, inside in (("nvidia-nvtx-cu12", "nvidia/nvtx/include"), ("nvidia-nvtx", "nvidia/cu13/include")):
        used = built(box, f"real-{name}", "cc", "-O1", f"-I{wheel(box, name) / inside}", source, "-ldl")
        record(box, used)
        want = [
            ("outer", "nvtx", 0, True, None, None),
            ("registered", "nvtx:real", 1, True, None, "-3"),
            ("mark", "nvtx", 2, False, None, None),
            ("started", "nvtx", 0, True, None, None),
        ]
        check(name, want, ranges(box))


def test_the_real_package_of_python(box: Box) -> None:
    packages = wheel(box, "nvtx")
    record(box, sys.executable, "-c", PEER, PYTHONPATH=str(packages))
    rows = box.rows(
        "SELECT name, category, depth, count(*) FROM events WHERE category LIKE 'nvtx%' GROUP BY ALL ORDER BY name"
    )
    check_true(f"ranges {rows}", ("decorated", "nvtx:python", 0, 3) in rows)
    inside = [row for row in rows if row[0] == "inside"]
    check("nested", [("inside", 1, 3)], [(row[0], row[2], row[3]) for row in inside])
    check("marks", 3, box.count("name = 'moment'"))
