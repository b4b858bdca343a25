# SPDX-License-Identifier: MIT
"""fathom.torch: with the real PyTorch (Debian's python3-torch) where it is installed, without any where it is not."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

from kit import FATHOM, Failure, Skip, expect, ran, rows
from test_annotations import pythons
from test_plain import interpreters
from world import imported

PROGRAMS = Path(__file__).resolve().parent / "programs"
BATCHES, EPOCHS, WORKERS = 10, 2, 2  # of programs/training.py: 40 items, 4 at a time


@functools.lru_cache(maxsize=None)
def torch_python() -> str:
    """The first interpreter that has PyTorch, and for which the extension was built."""
    ask = "import torch, fathom._record"
    places = ["/usr/bin/python3", *pythons().values()]
    for place in places:
        if (
            Path(place).exists()
            and subprocess.run([place, "-c", ask], capture_output=True, check=False).returncode == 0
        ):
            return place
    raise Skip("no Python that is here has PyTorch (Debian: python3-torch) and our extension")


def recorded(root: Path, *command: Any) -> Path:
    trace = root / "own.fathom"
    ran(FATHOM, "run", "-q", "--force", "-o", trace, "--layers", "app,posix", "--", *command)
    return trace


def counts(trace: Path) -> Dict[str, int]:
    sql = "SELECT name, count(*) AS n FROM events WHERE layer = 'app' GROUP BY name"
    return {row["name"]: row["n"] for row in rows(trace, sql)}


def of_training() -> Dict[str, int]:
    """One wait more than batches finds the end of a pass; each epoch has an evaluation by a loader of its own."""
    steps, passes = BATCHES * EPOCHS, 2 * EPOCHS
    wanted = {"epoch": EPOCHS, "evaluate": EPOCHS, "start": passes, "step": steps, "fetch": 2 * steps + passes}
    wanted.update({"batch": 2 * steps, "forward": 2 * steps, "loss": 2 * steps, "backward": steps, "optimizer": steps})
    wanted.update({"save": 1, "load": 2})
    return wanted


def trains(root: Path, workers: int, how: str, python: str = "") -> Path:
    python, program = python or torch_python(), PROGRAMS / "training.py"
    words = [str(program), str(workers), how, str(EPOCHS)]
    alone = ran(python, *words)
    output = root / "said"
    shell = ["sh", "-c", f'"$@" > {output}', "sh"]
    trace = recorded(root, *shell, python, "-m", "fathom.torch", *words)
    expect("what it learned and saved, to the last bit", alone, output.read_text())
    expect("counts", of_training(), counts(trace))
    return trace


def processes_with(trace: Path, name: str) -> List[int]:
    sql = f"SELECT count(*) AS n FROM events WHERE name = '{name}' AND layer = 'app' GROUP BY pid ORDER BY n"
    return [row["n"] for row in rows(trace, sql)]


def test_a_training_without_workers(root: Path) -> None:
    trace = trains(root, 0, "fork")
    inside = """SELECT count(*) AS n FROM events AS step JOIN events AS part USING (tid)
        WHERE step.name = 'step' AND part.name IN ('fetch', 'forward', 'loss', 'backward', 'optimizer')
        AND part.ts >= step.ts AND part.ts + part.dur <= step.ts + step.dur"""
    expect("phases inside their steps", 5 * BATCHES * EPOCHS, rows(trace, inside)[0]["n"])


def test_forked_workers(root: Path) -> None:
    trace = trains(root, WORKERS, "fork")
    share = BATCHES // WORKERS
    expect("batches by process", [share] * WORKERS * EPOCHS + [BATCHES * EPOCHS], processes_with(trace, "batch"))
    told = json.loads(ran(FATHOM, "report", trace, "training", "--format", "json"))
    table = told["training_by_process"]
    expect("one process trains", (1, BATCHES * EPOCHS), (len(table), table[0]["steps"]))
    row = table[0]
    expect("parts", row["time"], sum(row[name] for name in ("data", "compute", "checkpoint", "compile", "other")))
    of_others = "name = 'batch' AND pid NOT IN (SELECT pid FROM events WHERE name = 'step')"
    loaded = f"SELECT sum(dur) AS n FROM events WHERE {of_others}"
    expect("what the workers loaded", rows(trace, loaded)[0]["n"], row["loading"])


def test_spawned_workers(root: Path) -> None:
    if not os.environ.get("FATHOM_FULL"):
        raise Skip("each worker imports PyTorch anew; tests/run --full does it")
    trace = trains(root, WORKERS, "spawn")
    share = BATCHES // WORKERS
    expect("batches by process", [share] * WORKERS * EPOCHS + [BATCHES * EPOCHS], processes_with(trace, "batch"))


def test_what_is_watched_and_what_goes_wrong(root: Path) -> None:
    output = root / "said"
    command = [torch_python(), "-X", "dev", PROGRAMS / "watched.py"]
    trace = recorded(root, "sh", "-c", f'"$@" > {output}', "sh", *command)
    expect("said", ran(*command), output.read_text())
    wanted = {"forward": 2, "optimizer": 2, "backward": 2, "epoch": 2, "start": 2, "step": 5, "fetch": 5, "batch": 5}
    expect("counts", wanted, counts(trace))
    failed = "SELECT name, args['exception'] AS e FROM events WHERE args['exception'] IS NOT NULL ORDER BY name, ts"
    got = {row["name"]: row["e"].strip('"') for row in rows(trace, failed)}
    of_data = {name: "KeyError" for name in ("batch", "fetch", "step")}
    expect("exceptions", {"backward": "RuntimeError", "forward": "ValueError", **of_data}, got)


def test_annotations_need_no_pytorch(root: Path) -> None:
    program = """
import copy, sys
sys.modules["torch"] = None  # as if it were not installed
import fathom
try: fathom.torch.auto()
except fathom.Error as error: print(error.message)
items = [1, 2, 3]
one = fathom.torch.loader(items)
assert list(one) == items and list(one) == items and len(one) == 3 and one.index(2) == 1
for item in one:
    with fathom.torch.forward(layer=1): pass
    with fathom.torch.backward(), fathom.torch.optimizer(): pass
    break
with fathom.torch.epoch(n=7), fathom.torch.step(), fathom.torch.fetch(), fathom.torch.batch(): pass
with fathom.torch.checkpoint(), fathom.torch.evaluate(): pass
assert list(fathom.torch.loader(items, training=False)) == items
assert next(fathom.torch.loader(n for n in items)) == 1 and not fathom.torch.loader([])
assert list(copy.deepcopy(one)._iterable) == items
"""
    for version, python in pythons().items():
        (root / "program.py").write_text(program)
        trace = recorded(root, python, "-X", "dev", "-W", "error", root / "program.py")
        wanted = {"epoch": 5, "step": 9, "fetch": 15, "start": 5, "forward": 1, "backward": 1, "optimizer": 1}
        wanted.update({"batch": 1, "checkpoint": 1, "evaluate": 2})
        expect(f"Python {version}", wanted, counts(trace))


def test_off_is_off(root: Path) -> None:
    program = """
import fathom, fathom.torch, sys
items = [1]
assert fathom.torch.loader(items) is items
with fathom.torch.step(): pass
assert "torch" not in sys.modules
"""
    for python in interpreters().values():
        ran(python, "-W", "error", "-c", program)
    untouched = """
import torch, fathom.torch
before = torch.nn.Module.__call__, torch.save, torch.autograd.backward, torch.optim.SGD.step
with fathom.torch.auto() as watch: pass
watch.remove()
assert before == (torch.nn.Module.__call__, torch.save, torch.autograd.backward, torch.optim.SGD.step)
"""
    ran(torch_python(), "-c", untouched)


def test_the_runner_says_how_it_is_used(root: Path) -> None:
    for words, status, said in (([], 2, "usage"), (["--help"], 0, "usage"), (["-m"], 2, "usage")):
        done = subprocess.run(
            [sys.executable, "-m", "fathom.torch", *words], capture_output=True, text=True, cwd=root, check=False
        )
        expect(str(words), (status, True), (done.returncode, said in done.stdout + done.stderr))
    hidden = "import sys, fathom.torch; sys.modules['torch'] = None; sys.exit(fathom.torch.main(['train.py']))"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    expect("without PyTorch", (1, True), (done.returncode, "torch is not installed; pip install torch" in done.stderr))


NAMES = """fathom recording 1
run host=h start=1700000000000000000 duration=1000 exit=0 command="train"
process 1 name=train start=0 end=1000
process 2 name=worker ppid=1 start=0 end=1000
process 3 name=other start=0 end=1000
thread 1/1 start=0 end=1000
thread 2/2 start=0 end=1000
thread 3/3 start=0 end=1000
event 1/1 0 +900 app epoch.block category=pipeline
event 1/1 0 +100 app fetch.iter category=dataloader
event 1/1 10 +50 app item category=data
event 1/1 100 +300 app fetch.block category=dataloader
event 1/1 100 +280 app compute category=compute
event 1/1 110 +100 app forward category=compute
event 1/1 210 +100 app backward category=compute
event 1/1 310 +50 app step category=compute
event 1/1 400 +100 app ProfilerStep#2 category=user_annotation
event 1/1 400 +40 app enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ category=cpu_op
event 1/1 450 +40 app Optimizer.step#SGD.step category=cpu_op
event 1/1 950 +50 app capture category=checkpoint
event 1/1 960 +30 app forward category=compute
event 2/2 0 +70 app preprocess category=data
event 3/3 0 +500 app item category=data
"""


def test_names_of_others(root: Path) -> None:
    """Process 1: epochs of 900, and a checkpoint of 50, in which a forward pass does not count. 3 loads for nobody."""
    trace = imported(root, "names", NAMES)
    got = rows(trace, "FROM training WHERE scope = 'process'")
    expect("processes", [1], [row["pid"] for row in got])
    wanted = {"steps": 2, "step_max": 300, "time": 950, "data": 140, "compute": 320, "forward": 100, "backward": 100}
    wanted.update({"optimizer": 90, "checkpoint": 50, "other": 440, "loading": 70})
    expect("sums", wanted, {name: got[0][name] for name in wanted})


ARRAYS = """
import os, numpy
os.chdir(os.path.dirname(os.path.abspath(__file__)))
numpy.save("a.npy", numpy.arange(100000.0))
assert numpy.load("a.npy").sum() == 4999950000.0
numpy.savez("b.npz", x=numpy.zeros(50000), y=numpy.ones(50000))
assert numpy.load("b.npz")["y"].sum() == 50000
try:
    import h5py
except ModuleNotFoundError:
    raise SystemExit
with h5py.File("c.h5", "w") as file:
    file["x"] = numpy.arange(100000.0)
with h5py.File("c.h5") as file:
    assert file["x"][:].sum() == 4999950000.0
"""


def test_arrays_of_numpy_and_h5py_are_seen_by_the_layers_below(root: Path) -> None:
    """NumPy moves arrays by stdio and their headers by read and write; parts of archives, and HDF5, by POSIX calls."""
    try:
        python = torch_python()
    except Skip as reason:
        raise Skip(f"{reason}; NumPy comes with it") from None
    (root / "arrays.py").write_text(ARRAYS)
    trace = root / "arrays.fathom"
    ran(FATHOM, "run", "-q", "-o", trace, "--", python, root / "arrays.py")
    sql = """SELECT parse_filename(file) AS f, category AS c, CAST(sum(bytes) AS BIGINT) AS n FROM events
        WHERE file LIKE '%.np_' OR file LIKE '%.h5' GROUP BY ALL"""
    got = {(row["f"], row["c"]): row["n"] or 0 for row in rows(trace, sql)}
    array, header = 800_000, 128
    expect("a.npy written", array + header, got[("a.npy", "write")])
    for file, least in (("a.npy", array), ("b.npz", array // 2), ("c.h5", array)):
        if not (root / file).exists():
            continue  # no h5py
        read, size = got[(file, "read")], (root / file).stat().st_size
        if not least <= read <= size + array // 2 or got[(file, "write")] < least:
            raise Failure(f"{file} of {size} bytes: {got}")


ANNOTATED = """
from dftracer.python import ai, dftracer
log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
for _ in ai.pipeline.epoch.iter(range(2)):
    for _ in ai.dataloader.fetch.iter(range(5)):
        with ai.compute.forward: pass
        with ai.compute.backward: pass
        with ai.compute.step: pass
    with ai.checkpoint.capture: pass
log.finalize()
"""


def test_annotations_for_dftracer_are_the_same_phases(root: Path) -> None:
    (root / "program.py").write_text(ANNOTATED)
    trace = root / "ai.fathom"
    env = {"DFTRACER_ENABLE": "1"}
    ran(FATHOM, "run", "-q", "-o", trace, "--", sys.executable, root / "program.py", env=env)
    got = rows(trace, "FROM training WHERE scope = 'run'")[0]
    expect("steps", 10, got["steps"])
    names = {"data": "fetch.iter", "forward": "forward", "optimizer": "step", "checkpoint": "capture"}
    columns = [f"CAST(sum(dur) FILTER (name = '{name}') AS BIGINT) AS {phase}" for phase, name in names.items()]
    sums = f"SELECT {', '.join(columns)} FROM events WHERE layer = 'app'"
    wanted = rows(trace, sums)[0]
    expect("times", wanted, {name: got[name] for name in wanted})
