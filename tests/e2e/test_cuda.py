# SPDX-License-Identifier: MIT
"""The CUDA driver: programs that come to its functions in every way, on a driver without a GPU (tests/cuda), which
counts what it was called for. `test_alnair_…` are the defects of the interposer before, which must not come back."""

import collections
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from jobs import only_one
from kit import Box, Skipped, check, check_true

CUDA = Path(__file__).resolve().parent.parent / "cuda"
SOURCES = CUDA.parent.parent / "src"
STYLES = ("linked", "global", "dlsym", "resolver", "resolver1", "per-thread")
LAYER = ("--layers", "cuda")


def built(box: Box, name: str, *command: object) -> Path:
    box.not_emulated("the driver is of this machine")
    return box.kit.made(name, *command)


def driver(box: Box) -> Path:
    flags = ("-std=c++20", "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", f"-I{SOURCES}", CUDA / "fake_driver.cc")
    return built(box, "driver/libcuda.so.1", "c++", *flags, "-Wl,-Bsymbolic", "-Wl,-soname,libcuda.so.1")


def program(box: Box, style: str = "resolver") -> Path:
    common = ("cc", "-O1", "-Wall", "-pthread", CUDA / "program.c")
    if style in ("linked", "global"):
        return built(box, "cuda-linked", *common, "-DLINKED", driver(box))
    return built(box, "cuda-program", *common, "-ldl")


def environment(box: Box, **more: str) -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(driver(box).parent), "FAKE_CUDA_LOG": str(box.dir / "calls"), **more}


def record(
    box: Box, style: str, what: str, number: int = 8, layers: str = "cuda", force: bool = False, **more: str
) -> bytes:
    again = ("--force",) if force else ()
    command = (box.kit.fathom, "run", "-q", *again, "--layers", layers, "-o", box.trace, "--")
    return box.run(*command, program(box, style), style, what, number, env=environment(box, **more))


def plain(symbol: str) -> str:
    return re.sub(r"(_v\d)?(_ptsz|_ptds)?$", "", symbol)


def driver_saw(box: Box) -> collections.Counter[str]:
    calls: collections.Counter[str] = collections.Counter()
    for line in (box.dir / "calls").read_text().splitlines():
        symbol, count = line.split()
        calls[plain(symbol)] += int(count)
    return calls


def recorded(box: Box) -> collections.Counter[str]:
    rows = box.rows("SELECT name, count(*) FROM events WHERE layer = 'cuda' GROUP BY name")
    return collections.Counter({str(name): int(count) for name, count in rows})


def test_every_way_in(box: Box) -> None:
    """Each call that the driver got is an event, whichever way the program came to the function."""
    for style in STYLES:
        out = record(box, style, "work")
        check(f"{style}: as without a recorder", b"refused 2\n", out)
        check(f"{style}: calls", driver_saw(box), recorded(box))
        check(f"{style}: losses", 0, box.losses())
        subprocess.run(["rm", "-rf", box.trace, box.dir / "calls"], check=True)


def test_each_variant_has_its_own_hook(box: Box) -> None:
    """Every function that a real driver gave out for a name, a version and flags leads to the hook of that function."""
    answers = re.findall(r'"(\w+)", (\d), (\d+), "(\w+)"', (CUDA / "driver_answers.inc").read_text())
    check_true("answers", len(answers) > 300)
    used = built(box, "cuda-owners", "cc", "-O1", "-Wall", CUDA / "owners.c", "-ldl")
    questions = "".join(f"{name} {flags} {since}\n" for name, flags, since, _ in answers)
    env = {**os.environ, **environment(box), "FATHOM_OUT": str(box.trace), "FATHOM_LAYERS": "cuda"}
    env["LD_PRELOAD"] = str(box.kit.library)
    done = subprocess.run([str(used)], input=questions, env=env, capture_output=True, text=True, check=True)
    unknown = ("cuEventDestroy", "cuStreamDestroy")  # before CUDA 4: left alone
    wanted = [
        f"{name} {flags} {since} 0 {symbol} {'libcuda.so.1' if symbol in unknown else 'libfathom.so'}"
        for name, flags, since, symbol in answers
    ]
    check("owners", wanted, done.stdout.splitlines())


def test_what_a_call_says(box: Box) -> None:
    record(box, "resolver", "work")
    launch = "name = 'cuLaunchKernel' AND args['capturing'] IS NULL"
    what = "args['kernel'], args['grid'], args['block'], args['shared_memory'], device, stream, error, ret"
    rows = box.rows(f"SELECT {what}, count(*) FROM events WHERE {launch} GROUP BY ALL ORDER BY stream")
    check(
        "launches",
        [
            ("_Z7nothingi", "4x2x1", "64x1x1", "1024", 0, 7, None, 0, 1),
            ("_Z7nothingi", "4x2x1", "64x1x1", "1024", 0, 14, None, 0, 5),
        ],
        rows,
    )
    extended = box.rows("SELECT args['grid'], args['block'], stream FROM events WHERE name = 'cuLaunchKernelEx'")
    check("the extended form", [("3x1x1", "32x1x1", 14)], extended)
    copies = box.rows(
        "SELECT name, args['direction'], bytes FROM events WHERE category = 'copy' AND bytes > 0 ORDER BY ts"
    )
    check(
        "copies",
        [
            ("cuMemcpyHtoD", "HtoD", 1000),
            ("cuMemcpyDtoH", "DtoH", 2000),
            ("cuMemcpyHtoDAsync", "HtoD", 3000),
            ("cuMemcpyDtoDAsync", "DtoD", 4000),
            ("cuMemcpyAsync", "DtoH", 5000),
            ("cuMemcpy2D", "HtoD", 600),
        ],
        copies,
    )
    sets = box.rows("SELECT name, bytes FROM events WHERE category = 'set' ORDER BY ts")
    check("sets", [("cuMemsetD32", 1024), ("cuMemsetD2D8Async", 1000)], sets)


def test_graphs(box: Box) -> None:
    """What is captured did not run; each launch of the graph says what it holds."""
    record(box, "dlsym", "work")
    captured = box.rows(
        "SELECT name, count(*), sum(bytes) FROM events WHERE args['capturing'] = '1'"
        " AND category IN ('launch', 'copy') GROUP BY name ORDER BY name"
    )
    check("captured", [("cuLaunchKernel", 2, None), ("cuMemcpyHtoDAsync", 1, 0)], captured)
    launched = box.rows(
        "SELECT args['graph_kernels'], args['graph_copies'], args['graph_bytes'], count(*) FROM events"
        " WHERE name = 'cuGraphLaunch' GROUP BY ALL"
    )
    check("launched", [("2", "1", "700", 3)], launched)


def test_a_capture_is_not_disturbed(box: Box) -> None:
    """A stream that is first met when it captures: to ask the driver about it then would invalidate the capture."""
    record(box, "resolver", "device", 10)
    check("captured", 100, box.count("name = 'cuLaunchKernel' AND args['capturing'] = '1' AND stream = 14"))
    check("replayed", 15 * 200, box.count("name = 'cuGraphLaunch' AND stream = 14 AND error IS NULL"))


def test_per_thread_streams(box: Box) -> None:
    """Stream 0 of the per-thread twins is the thread's own."""
    record(box, "per-thread", "work")
    check("default", 0, box.count("stream = 7"))
    check_true("the thread's own", box.count("stream = 13 AND name = 'cuMemcpyHtoD'") == 1)


def test_memory_in_use(box: Box) -> None:
    record(box, "resolver", "work")
    rows = box.rows("SELECT device, memory, allocations, frees, peak, in_use FROM gpu_memory ORDER BY memory")
    check(
        "memory",
        [
            (0, "device", 4, 4, 1 << 20, 0),
            (None, "host", 1, 1, 4096, 0),
            (0, "managed", 1, 0, 8192, 8192),
            (0, "pool", 1, 1, 65536, 0),
        ],
        rows,
    )


def test_memory_of_graphs(box: Box) -> None:
    """It is in use when the graph was launched, and neither when it is captured nor where the graph frees it itself."""
    for style, what in (("resolver", "graphs"), ("per-thread", "own")):
        out = record(box, style, what, force=True)
        check(f"{what}: as without a recorder", b"relaunched 1\nupdate 910\n", out)
        mega = 1 << 20
        rows = box.rows(
            "SELECT name, CAST(args['graph_memory'] AS BIGINT), size, coalesce(CAST(args['in_use'] AS BIGINT), 0)"
            " FROM events WHERE args['memory'] = 'graph' ORDER BY ts"
        )
        check(
            f"{what}: in use after each call",
            [
                ("cuGraphLaunch", mega, None, mega),
                ("cuMemFree", None, mega, 0),
                ("cuGraphLaunch", mega, None, mega),
                ("cuMemFreeAsync", None, mega, 0),
                ("cuGraphLaunch", mega, None, mega),
                ("cuMemFree", None, mega, 0),
                ("cuGraphLaunch", 2 * mega, None, 2 * mega),
                ("cuGraphLaunch", 2 * mega, None, 2 * mega),
                ("cuGraphLaunch", None, None, 0),
                ("cuGraphLaunch", 5 * mega, None, 5 * mega),
            ],
            rows,
        )
        sums = box.rows("SELECT device, memory, allocations, frees, allocated, peak, in_use FROM gpu_memory ORDER BY 2")
        graph = (0, "graph", 6, 4, 12 * mega, 5 * mega, 5 * mega)
        check(f"{what}: kinds", [(0, "device", 1, 0, 4096, 4096, 4096), graph], sums)
        captured = "name IN ('cuMemAllocAsync', 'cuMemFreeAsync') AND args['capturing'] = '1'"
        check(f"{what}: captured", 6, box.count(captured))
        check(f"{what}: losses", 0, box.losses())


def test_graphs_that_are_updated(box: Box) -> None:
    """They are counted anew from the graph that they become; an update that is refused changes nothing."""
    record(box, "resolver", "graphs")
    rows = box.rows("SELECT args['graph_bytes'] FROM events WHERE args['graph_copies'] IS NOT NULL ORDER BY ts")
    check("bytes of each launch", [("700",), ("900",), ("900",)], rows)
    graphs = "SELECT count(DISTINCT args['graph']) FROM events WHERE args['graph_copies'] = '1'"
    check("one graph", 1, box.value(graphs))


def test_errors_have_names(box: Box) -> None:
    record(box, "dlsym", "work")
    rows = box.rows("SELECT name, error, ret, args['memory'] FROM events WHERE error IS NOT NULL")
    check("errors", [("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY", 2, None)], rows)


def test_a_failed_free_frees_nothing(box: Box) -> None:
    command = (box.kit.fathom, "run", "-q", *LAYER, "-o", box.trace, "--", program(box), "dlsym", "work")
    box.run(*command, env=environment(box, FAKE_CUDA_FAIL="cuMemFreeHost:700"), status=1)
    check("in use", [("host", 4096)], box.rows("SELECT memory, in_use FROM gpu_memory WHERE memory = 'host'"))
    check("error", [("CUDA_ERROR_ILLEGAL_ADDRESS",)], box.rows("SELECT error FROM events WHERE name = 'cuMemFreeHost'"))


def test_without_a_driver(box: Box) -> None:
    """A machine without the driver does not look as if it had one, and says why the layer is empty."""
    for style in ("global", "dlsym"):
        used = built(box, "cuda-program", "cc", "-O1", "-Wall", "-pthread", CUDA / "program.c", "-ldl")
        check(
            style,
            b"driver none\n",
            box.run(box.kit.fathom, "run", "-q", "--force", *LAYER, "-o", box.trace, "--", used, style),
        )
    check("events", 0, box.count("layer = 'cuda'"))


def test_definitions_of_the_programs_own(box: Box) -> None:
    """A library that defines the driver's functions itself, and would load it when one is called."""
    source, stub, main = box.dir / "stub.c", box.dir / "libstub.so", box.dir / "main"
    source.write_text(
        "#include <dlfcn.h>\n#include <stddef.h>\nint cuInit(unsigned flags) {\n"
        '  void* library = dlopen("libcuda.so.1", RTLD_NOW);\n'
        '  return library == NULL ? 100 : ((int (*)(unsigned))dlsym(library, "cuInit"))(flags);\n}\n'
    )
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(stub)], check=True)
    text = "import ctypes; print(ctypes.CDLL(None).cuInit(0))"
    env = environment(box, LD_PRELOAD=f"{box.kit.library}:{stub}", FATHOM_OUT=str(box.trace), FATHOM_LAYERS="cuda")
    check("initialised", b"0\n", box.run(sys.executable, "-c", text, env=env))
    main.with_suffix(".c").write_text(
        '#include <stdio.h>\nint cuInit(unsigned);\nint main(void) { printf("%d\\n", cuInit(0)); }\n'
    )
    subprocess.run(["cc", str(main.with_suffix(".c")), str(stub), "-o", str(main)], check=True)
    check(
        "linked",
        b"0\n",
        box.run(
            main, env={**env, "LD_PRELOAD": str(box.kit.library), "LD_LIBRARY_PATH": f"{driver(box).parent}:{box.dir}"}
        ),
    )
    check("calls", driver_saw(box), recorded(box))


def test_layer_off(box: Box) -> None:
    """Where the layer is not asked for, the program gets the driver's own functions."""
    record(box, "resolver", "work", layers="posix")
    check("events", 0, box.count("layer = 'cuda'"))


def test_not_recorded_at_all(box: Box) -> None:
    """Preloaded, with nobody who asked for a recording."""
    for style in STYLES:
        env = {**environment(box), "LD_PRELOAD": str(box.kit.library)}
        check(style, b"refused 2\n", box.run(program(box, style), style, "work", env=env))


def test_two_processes(box: Box) -> None:
    record(box, "resolver", "fork")
    check("calls", driver_saw(box), recorded(box))
    check("processes", [(2,)], box.rows("SELECT count(DISTINCT pid) FROM events WHERE layer = 'cuda'"))


def cudart(box: Box, name: str) -> Path:
    """A real libcudart, by the name of its package; skipped where it cannot be had."""
    folder = box.kit.build / "cuda-wheels" / name
    with only_one(folder):
        if not list(folder.glob("**/libcudart.so*")):
            folder.mkdir(parents=True, exist_ok=True)
            fetch_cudart(folder)
    return next(folder.glob("**/libcudart.so*"))


def fetch_cudart(folder: Path) -> None:
    lines = (CUDA / "requirements.txt").read_text().split()
    wanted = next(line for line in lines if line.split("=")[0] == folder.name)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check"]
    if subprocess.run([*command, "-d", str(folder), wanted], capture_output=True, timeout=100).returncode != 0:
        raise Skipped(f"{folder.name} cannot be had by pip here")
    wheel = next(folder.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extract(next(path for path in archive.namelist() if "/libcudart.so" in path), folder)


def test_the_real_run_time_library(box: Box) -> None:
    """libcudart asks for all that it may need, with a NULL status now and then, before it asks the driver anything."""
    text = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).cudaGetDeviceCount(ctypes.byref(ctypes.c_int())) != 0)"
    for name in ("nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime"):
        library = cudart(box, name)
        command = (sys.executable, "-c", text, library)
        out = box.run(
            box.kit.fathom, "run", "-q", "--force", *LAYER, "-o", box.trace, "--", *command, env=environment(box)
        )
        check("stops where the fake does", b"True\n", out)
        asked = recorded(box)["cuGetProcAddress"]
        check(f"{name}: look-ups", driver_saw(box)["cuGetProcAddress"], asked)
        check_true(f"{name}: {asked} look-ups are fewer than a run-time library makes", asked > 300)
        (box.dir / "calls").unlink()


def test_recorded_elsewhere(box: Box) -> None:
    """A spool that was brought here from another machine, whose counter ran at a speed of its own."""
    env = {
        **environment(box),
        "LD_PRELOAD": str(box.kit.library),
        "FATHOM_OUT": str(box.trace),
        "FATHOM_LAYERS": "cuda",
    }
    box.run(program(box), "resolver", "burst", 20_000, env=env)
    here, there = box.trace, box.root / "elsewhere.fathom"
    shutil.copytree(here, there)
    header = bytearray((there / "spool/run.header").read_bytes())
    header[88:92] = b"else"  # of the machine's boot
    (there / "spool/run.header").write_bytes(header)
    spans = []
    for box.trace in (here, there):
        check("launches", 20_000, box.count("name = 'cuLaunchKernel'"))
        spans.append(float(box.value("SELECT max(ts + dur) - min(ts) FROM events WHERE layer = 'cuda'")))
    check_true(f"the time is the same: {spans}", abs(spans[1] / spans[0] - 1) < 0.02)


def test_the_recording_half_alone(box: Box) -> None:
    if not box.kit.full:
        raise Skipped("it is built anew: --full")
    folder = box.dir / "alone"
    subprocess.run(
        ["cmake", "-S", CUDA.parent.parent, "-B", folder, "-DFATHOM_RECORD_ONLY=ON"], check=True, capture_output=True
    )
    subprocess.run(["cmake", "--build", folder, "-j2"], check=True, capture_output=True)
    env = {**environment(box), "LD_PRELOAD": str(folder / "libfathom.so"), "FATHOM_OUT": str(box.trace)}
    box.run(program(box), "resolver", "work", env={**env, "FATHOM_LAYERS": "cuda"})
    check("calls", driver_saw(box), recorded(box))


# --- the defects of the interposer before


def test_alnair_2_loads_everywhere(box: Box) -> None:
    """It did not load on glibc 2.34: every preloaded program died."""
    box.run("/bin/true", env={"LD_PRELOAD": str(box.kit.library)})


def test_alnair_5_bursts_and_threads(box: Box) -> None:
    """It fell in a burst of calls, and with several threads."""
    number = 200_000 if box.kit.full else 20_000
    record(box, "resolver", "burst", number)
    check("launches", number, box.count("name = 'cuLaunchKernel'"))
    check("losses", 0, box.losses())


def test_alnair_6_memory_after_the_call(box: Box) -> None:
    """It counted memory before the call, under what stood in the variable, and never took it back."""
    record(box, "resolver", "loop", 2000)
    rows = box.rows("SELECT allocations, frees, peak, in_use FROM gpu_memory")
    check("memory", [(2000, 2000, 4096, 0)], rows)


def test_alnair_12_bytes_of_each_thread(box: Box) -> None:
    """It gave the bytes of one thread's call to another's."""
    record(box, "resolver", "threads", 64)
    rows = box.rows(
        "SELECT count(*), count(DISTINCT tid), sum(c) FROM (SELECT tid, bytes, count(*) AS c FROM events"
        " WHERE name = 'cuMemcpyHtoD' GROUP BY tid, bytes)"
    )
    check("threads and sizes", [(64, 64, 6400)], rows)


def test_alnair_13_dlsym_of_others(box: Box) -> None:
    """Its dlsym was the caller of every look-up: RTLD_NEXT meant another library."""
    source = box.dir / "wrap.c"
    source.write_text(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <unistd.h>\n"
        'pid_t getppid(void) { return ((pid_t(*)(void))dlsym(RTLD_NEXT, "getppid"))() * 0 + 7; }\n'
    )
    library = box.dir / "libwrap.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    env = {**environment(box), "LD_PRELOAD": f"{box.kit.library}:{library}", "FATHOM_OUT": str(box.trace)}
    out = box.run(sys.executable, "-c", "import os; print(os.getppid())", env={**env, "FATHOM_LAYERS": "cuda"})
    check("the wrapper's answer", b"7\n", out)


def test_alnair_14_15_needs_and_says_nothing(box: Box) -> None:
    """It needed CUDA's libraries to be loaded at all, and wrote to the program's output."""
    needed = subprocess.run(["readelf", "-d", str(box.kit.library)], capture_output=True, text=True, check=True).stdout
    check("libraries", [], re.findall(r"NEEDED.*\[(libcu.*|libnvidia.*)\]", needed))
    check("output", b"refused 2\n", record(box, "linked", "work"))


def test_alnair_logs(box: Box) -> None:
    """Its two logs, with what it got wrong right: no look-ups among the copies (7), free of nothing frees nothing (4),
    complete at exit (8), a pair of files for each process (9)."""
    record(box, "resolver", "fork")
    box.fathom("export", box.trace, "--format", "alnair", "-o", box.dir / "logs")
    metrics = [line.split(",") for line in (box.dir / "logs/metrics.log").read_text().splitlines()]
    names = "mem_used cuInit cuMemAlloc cuMemFree cuLaunchKernel cuMemcpyH2D cuMemcpyD2H cuGetProcAddress"
    names += " cuMemcpyH2D_ASYNC cudaMemcpy cudaMemcpyAsync"
    check("rows", [f"name:{name}" for name in names.split()], [line[0] for line in metrics])
    counts = {line[0][5:]: int(line[1][6:]) for line in metrics}
    saw = driver_saw(box)
    check("copies", saw["cuMemcpyHtoD"], counts["cuMemcpyH2D"])
    check("look-ups", saw["cuGetProcAddress"], counts["cuGetProcAddress"])
    check("launches", saw["cuLaunchKernel"] + saw["cuLaunchKernelEx"], counts["cuLaunchKernel"])
    check("memory", 0, counts["mem_used"])
    line = re.compile(r"name:\w+, start:\d{19}, burst:\d+, bytes:\d+, kind:-1")
    timeline = (box.dir / "logs/timeline.log").read_text().splitlines()
    check("lines that look otherwise", [], [text for text in timeline if not line.fullmatch(text)])
    check("frees of nothing", 2, sum(1 for text in timeline if "cuMemFree," in text and "bytes:0," in text))
    check("files", 6, len(list((box.dir / "logs").iterdir())))
