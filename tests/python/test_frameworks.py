# SPDX-License-Identifier: MIT
"""fathom.torch on PyTorch 2, fathom.jax, fathom.tensorflow and fathom.keras, on frameworks that are installed."""

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict

from frameworks import python_with, runs, said_alone
from kit import FATHOM, Failure, Skip, expect, ran, rows
from test_torch import counts, processes_with, recorded, trains
from world import imported

PROGRAMS = Path(__file__).resolve().parent / "programs"
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}


def compared(root: Path, framework: str, python: str, program: str, *words: str, **variables: str) -> Path:
    """A recording of a program that said the same with hooks as without."""
    env = {**QUIET, **variables}
    alone = said_alone(python, PROGRAMS / program, *words, env=env)
    output = root / "said"
    assigned = [f"{name}={value}" for name, value in env.items()]
    shell = ["env", *assigned, "sh", "-c", f'"$@" > {output}', "sh"]
    trace = recorded(root, *shell, *runs(python, framework, PROGRAMS / program, *words))
    expect("what it said", alone, output.read_text())
    return trace


def some(counted: Dict[str, int], *names: str) -> Dict[str, int]:
    return {name: counted.get(name, 0) for name in names}


def in_parts(trace: Path) -> Dict[str, Dict[str, int]]:
    """Phases by the region `part …` that holds them."""
    sql = """SELECT part.name AS part, one.name AS name, count(*) AS n FROM events AS part
        JOIN events AS one USING (pid, tid) WHERE part.name LIKE 'part %' AND one.layer = 'app'
        AND one.name NOT LIKE 'part %' AND one.ts >= part.ts AND one.ts + one.dur <= part.ts + part.dur GROUP BY ALL"""
    found: Dict[str, Dict[str, int]] = {}
    for row in rows(trace, sql):
        found.setdefault(row["part"][5:], {})[row["name"]] = row["n"]
    return found


def free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def test_pytorch_2_in_parts(root: Path) -> None:
    """Modules in a compiled function belong to it; what a checkpoint computes again belongs to the backward pass."""
    trace = compared(root, "torch", python_with("torch"), "torch2.py", free_port())
    step = {"forward": 3, "backward": 3, "optimizer": 3}
    got = in_parts(trace)
    expect("compiled", {**step, "compile": 2}, got["compiled"])  # forward, and backward as it is first needed
    expect("broken", {**step, "compile": 2}, got["broken"])
    expect("step", {"forward": 3, "backward": 3}, some(got["step"], "forward", "backward"))
    expect("function", {"compile": 1}, got["function"])
    expect("in place", {**step, "compile": 1}, got["in place"])
    expect("checkpointed", {"forward": 2, "backward": 2}, got["checkpointed"])
    expect("amp", {"forward": 1, "backward": 1, "optimizer": 1}, got["amp"])
    expect("inference", {"evaluate": 1, "start": 1, "fetch": 5, "batch": 4, "forward": 4}, got["inference"])
    expect("copies", (2, 2), (got["copies"]["save"], got["copies"]["load"]))
    expect("distributed", step, got["distributed"])
    expect("functional", {"forward": 1}, got["functional"])
    breaks = "SELECT CAST(args['graph_breaks'] AS BIGINT) AS n FROM events WHERE args['graph_breaks'] IS NOT NULL"
    expect("breaks", 1, rows(trace, breaks)[0]["n"])
    names = "SELECT DISTINCT args['module'] AS m FROM events WHERE name = 'forward'"
    modules = {row["m"].strip('"') for row in rows(trace, names)}
    expect("a compiled module by its own name", (True, False), ("Net" in modules, "OptimizedModule" in modules))


def test_pytorch_2_tells_compilation_apart(root: Path) -> None:
    trace = compared(root, "torch", python_with("torch"), "torch2.py", free_port())
    row = rows(trace, "FROM training WHERE scope = 'run'")[0]
    outer = """SELECT CAST(sum(dur) AS BIGINT) AS n FROM events AS e WHERE category = 'compile' AND NOT EXISTS (
        SELECT 1 FROM events AS o WHERE o.category = 'compile' AND o.tid = e.tid AND o.ts < e.ts
        AND o.ts + o.dur >= e.ts + e.dur)"""
    expect("compile", rows(trace, outer)[0]["n"], row["compile"])
    parts = sum(row[name] for name in ("data", "compute", "checkpoint", "compile", "other"))
    expect("parts", row["time"], parts)


def test_pytorch_2_trains_with_workers(root: Path) -> None:
    python = python_with("torch")
    for how in ("fork", "spawn"):
        trace = trains(root, 2, how, python)
        expect(f"batches by process, {how}", [5, 5, 5, 5, 20], processes_with(trace, "batch"))


def test_pytorch_2_what_is_watched_and_what_goes_wrong(root: Path) -> None:
    output = root / "said"
    command = [python_with("torch"), "-W", "ignore", PROGRAMS / "watched.py"]
    trace = recorded(root, "sh", "-c", f'"$@" > {output}', "sh", *command)
    expect("said", ran(*command), output.read_text())
    wanted = {"forward": 2, "optimizer": 2, "backward": 2, "epoch": 2, "start": 2, "step": 5, "fetch": 5, "batch": 5}
    expect("counts", wanted, counts(trace))


def test_jax_steps(root: Path) -> None:
    trace = compared(root, "jax", python_with("jax"), "jax_steps.py")
    sql = """SELECT args['function'] AS f, args['cache'] AS c, count(*) AS n FROM events
        WHERE name = 'call' GROUP BY ALL"""
    got = {(row["f"].strip('"'), (row["c"] or "").strip('"')): row["n"] for row in rows(trace, sql)}
    expect("first, shapes that are new, and the rest", (2, 4), (got["train_step", "miss"], got["train_step", "hit"]))
    expect("a method, once", 1, got["add", "miss"])
    expect("one that fails", 1, got["fails", ""])
    counted = counts(trace)
    wanted = {"step": 5 + 2, "epoch": 1, "device_put": 5, "mine": 1, "wait": 2}
    expect("steps, a loader, transfers, annotations", wanted, some(counted, *wanted))
    stages = "SELECT DISTINCT name FROM events WHERE category = 'compile' AND args['function'] LIKE '%train_step%'"
    expect("stages", {"trace", "lower", "compile"}, {row["name"] for row in rows(trace, stages)})
    row = rows(trace, "FROM training WHERE scope = 'run'")[0]
    expect("compilation is no compute", True, row["compile"] > 0 and row["compute"] < row["compile"])


def test_tensorflow_steps(root: Path) -> None:
    trace = compared(root, "tensorflow", python_with("tensorflow"), "tensorflow_steps.py")
    sql = "SELECT args['cache'] AS c, count(*) AS n FROM events WHERE name = 'call' GROUP BY ALL"
    got = {(row["c"] or "").strip('"'): row["n"] for row in rows(trace, sql)}
    expect("traced twice, called four times more, failed once", {"miss": 2, "hit": 4, "": 1}, got)
    wanted = {"step": 5, "fetch": 6 + 3, "forward": 2, "loss": 2, "backward": 2, "optimizer": 2, "save": 2, "load": 2}
    expect("counts", wanted, some(counts(trace), *wanted))
    failed = "SELECT name FROM events WHERE args['exception'] IS NOT NULL ORDER BY name"
    expect("failed", ["call", "trace"], [row["name"] for row in rows(trace, failed)])


def fits(root: Path, backend: str) -> Dict[str, int]:
    """Two epochs of ten steps, each with an evaluation; one more evaluation, a prediction; an epoch that fails."""
    trace = compared(root, "keras", python_with(backend), "keras_fit.py", KERAS_BACKEND=backend)
    wanted = {"epoch": 3, "step": 23, "evaluate": 3, "predict": 1}
    counted = counts(trace)
    expect(f"Keras on {backend}", wanted, some(counted, *wanted))
    failed = "SELECT name FROM events WHERE args['exception'] IS NOT NULL ORDER BY name"
    expect("failed", ["epoch", "step"], [row["name"] for row in rows(trace, failed)])
    return counted


def test_keras_on_tensorflow(root: Path) -> None:
    expect("calls", True, fits(root, "tensorflow")["call"] >= 23)


def test_keras_on_jax(root: Path) -> None:
    counted = fits(root, "jax")
    expect("calls, fetches", (True, True), (counted["call"] >= 23, counted["fetch"] >= 23))


def test_keras_on_torch(root: Path) -> None:
    counted = fits(root, "torch")
    expect("backward, optimizer", (23, 23), (counted["backward"], counted["optimizer"]))


HOOKS = """
import fathom, importlib, sys
framework = sys.argv[1]
module = importlib.import_module(framework)
def state():
    if framework == "torch":
        return module.nn.Module.__call__, module.save, module.autograd.backward
    if framework == "jax":
        from jax._src.array import ArrayImpl
        return module.jit, module.device_put, vars(ArrayImpl)["_value"], module.profiler.TraceAnnotation.__enter__
    return module.function, module.GradientTape.gradient, module.train.Checkpoint.save
before, finders = state(), list(sys.meta_path)
watch = importlib.import_module(f"fathom.{framework}").auto()
assert state() != before or not fathom.annotate._record.is_bound()
watch.remove()
watch.remove()
assert state() == before and sys.meta_path == finders
"""


def test_nothing_stays_when_a_watch_is_removed(root: Path) -> None:
    found = 0
    for framework in ("torch", "jax", "tensorflow"):
        try:
            python = python_with(framework)
        except Skip:
            continue
        found += 1
        (root / "program.py").write_text(HOOKS)
        env = [f"{name}={value}" for name, value in QUIET.items()]
        recorded(root, "env", *env, python, "-W", "ignore", root / "program.py", framework)
        ran(python, "-W", "ignore", root / "program.py", framework, env=QUIET)
    if found == 0:
        raise Skip("no Python that is here has a framework")


def test_without_the_frameworks(root: Path) -> None:
    """Each says in one sentence that it is missing; regions by hand do without, and nothing imports a framework."""
    program = """
import sys
for name in ("torch", "jax", "tensorflow", "keras"): sys.modules[name] = None
import fathom
for name in ("torch", "jax", "tensorflow", "keras"):
    try: getattr(fathom, name).auto()
    except fathom.Error as error: print(error.message)
    with getattr(fathom, name).step(), getattr(fathom, name).compilation(): pass
    list(getattr(fathom, name).loader([1]))
"""
    (root / "program.py").write_text(program)
    output = root / "said"
    trace = recorded(root, "sh", "-c", f'"$@" > {output}', "sh", sys.executable, root / "program.py")
    names = ("torch", "jax", "tensorflow", "keras")
    expect("said", "".join(f"{name} is not installed\n" for name in names), output.read_text())
    expect("counts", {"step": 8, "compile": 4, "epoch": 4}, some(counts(trace), "step", "compile", "epoch"))
    hidden = "import sys, fathom.{0}; sys.modules['{0}'] = None; sys.exit(fathom.{0}.main(['train.py']))"
    for name in names:
        words = [sys.executable, "-c", hidden.format(name)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        expect(name, (1, 1), (done.returncode, done.stderr.count("\n")))


LATER = """
import sys
import fathom._hooks as hooks
called = []
undo = hooks.when_imported("later", lambda: called.append(sys.modules["later"].value))
also = hooks.when_imported("never", lambda: called.append("never"))
hooks.when_imported("sys", lambda: called.append("at once"))
hooks.when_imported("later", lambda: 1 / 0)
assert called == ["at once"], called
import later
assert called == ["at once", 7] and "exec_module" not in vars(later.__loader__), called
also()
undo()
assert hooks._imports not in sys.meta_path and later.__spec__.loader is later.__loader__
places = hooks.Places("later", "9.1")
assert places.find("later", "value") == 7 and places.find("later", "gone.deeper") is None
assert places.find("nowhere.at.all") is None
places.say_what_is_missing()
"""


def test_modules_that_are_imported_later(root: Path) -> None:
    (root / "later.py").write_text("value = 7\n")
    (root / "program.py").write_text(LATER)
    words = [sys.executable, "-B", str(root / "program.py")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=root, check=False)
    expect("exit", (0, ""), (done.returncode, done.stdout))
    expect("what cannot be watched", True, "later cannot be watched: ZeroDivisionError" in done.stderr)
    expect("one sentence", True, "later 9.1 has no later.gone.deeper, nowhere.at.all: phases" in done.stderr)


COMPILES = """fathom recording 1
run host=h start=1700000000000000000 duration=1000 exit=0 command="train"
process 1 name=train start=0 end=1000
thread 1/1 start=0 end=1000
thread 1/2 start=0 end=1000
event 1/1 0 +10 app lower category=compile
event 1/1 10 +490 app step
event 1/1 10 +390 app forward category=compute
event 1/1 100 +250 app compile category=compile
event 1/1 150 +50 app lower category=compile
event 1/1 400 +50 app trace category=compile
event 1/1 460 +40 app backward category=compute
event 1/1 500 +100 app step
event 1/1 500 +60 app call category=compute
event 1/1 510 +30 app compile category=compile
event 1/1 560 +20 app wait category=compute
event 1/2 0 +900 app compile category=compile
"""


def test_compilation_is_told_apart(root: Path) -> None:
    """Of the first forward pass 250 are compilation, of the call 30; a thread that only compiles trains nothing."""
    trace = imported(root, "compiles", COMPILES)
    row = rows(trace, "FROM training WHERE scope = 'run'")[0]
    wanted: Dict[str, Any] = {"steps": 2, "time": 600, "compile": 340, "forward": 140, "backward": 40, "compute": 230}
    expect("sums", {**wanted, "other": 30, "data": 0}, {name: row[name] for name in [*wanted, "other", "data"]})
    text = ran(FATHOM, "report", trace, "training")
    if "Compilation took 340 ns, 56.7 %." not in text:
        raise Failure(text)
