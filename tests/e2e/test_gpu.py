# SPDX-License-Identifier: MIT
"""What the device does (layer gpu), on a driver and a CUPTI without a GPU (tests/cuda): CUPTI's records are rows, the
calls that asked for them bear their number, and whatever CUPTI refuses is said and harms nobody."""

import json
import subprocess
from pathlib import Path

from kit import COUNT, LOSSES, Box, check, check_true
from test_cuda import CUDA, SOURCES, built, driver, environment, program

WAITS = {"FATHOM_GPU_SYNC": "1"}


def cupti(box: Box) -> Path:
    """In a folder of its own: only who names that one has a CUPTI."""
    flags = ("-std=c++20", "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", f"-I{SOURCES}", CUDA / "fake_cupti.cc")
    return built(box, "cupti/libcupti.so.13", "c++", *flags, "-Wl,-Bsymbolic", "-Wl,-soname,libcupti.so.13", "-ldl")


def with_cupti(box: Box, **more: str) -> dict[str, str]:
    paths = f"{driver(box).parent}:{cupti(box).parent}"
    return {**environment(box), "LD_LIBRARY_PATH": paths, "FAKE_CUPTI_LOG": str(box.dir / "cupti"), **more}


def record(box: Box, what: str, number: int = 8, style: str = "resolver", layers: str = "gpu", **more: str) -> bytes:
    command = (box.kit.fathom, "run", "-q", "--force", "--layers", layers, "-o", box.trace, "--")
    return box.run(*command, program(box, style), style, what, number, env=with_cupti(box, **more))


def record_by(box: Box, options: tuple[str, ...], what: str, number: int, **more: str) -> None:
    command = (box.kit.fathom, "run", "-q", "--force", "--layers", "gpu", *options, "-o", box.trace, "--")
    box.run(*command, program(box, "resolver"), "resolver", what, number, env=with_cupti(box, **more))


def test_options_of_run(box: Box) -> None:
    """As the variables, and stronger than they are."""
    record_by(box, ("--gpu-waits", "--gpu-graphs", "nodes"), "work", 8, FATHOM_GPU_GRAPHS="whole")
    check_true("waits", box.count("layer = 'gpu' AND category = 'sync'") > 0)
    check("graphs", 0, box.count("layer = 'gpu' AND category = 'graph'"))
    record_by(box, ("--gpu-range", "profiler"), "switch", 100)
    check("in the range", 100, box.count("layer = 'gpu' AND category = 'kernel'"))
    record_by(box, ("--cupti", "none", "--gpu-sample", "10"), "burst", 640)
    check("sampled", 64, box.count("layer = 'gpu' AND args['clock'] = 'events'"))
    for wrong in (("--gpu-graphs", "all"), ("--gpu-range", "x"), ("--gpu-sample", "-1"), ("--cupti", "/no/such.so")):
        command = [str(box.kit.fathom), "run", "--layers", "gpu", *wrong, "-o", str(box.dir / "none"), "--", "true"]
        done = subprocess.run(command, capture_output=True, text=True)
        check(f"{wrong}", (2, True), (done.returncode, wrong[0] in done.stderr))
    command = [str(box.kit.fathom), "run", "--gpu-waits", "-o", str(box.dir / "none"), "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True)
    check("without the layer", (2, True), (done.returncode, "--layers +gpu" in done.stderr))


def test_names_and_flows_in_exports(box: Box) -> None:
    """Kernels by the names that were written, in their rows and in the launches; a flow from each call to its work."""
    record(box, "work")
    box.fathom("export", box.trace, "--format", "chrome", "-o", box.dir / "run.json")
    events = json.loads((box.dir / "run.json").read_text())["traceEvents"]
    kernels = {event["name"] for event in events if event.get("cat") == "gpu,kernel"}
    launched = {event["args"].get("kernel") for event in events if event["name"] == "cuLaunchKernel"}
    check("names", ({"nothing(int)"}, {"nothing(int)"}), (kernels, launched))
    begins, ends = ([event["id"] for event in events if event["ph"] == end] for end in "sf")
    check("flows", (box.count("layer = 'gpu'"), set(ends)), (len(ends), set(begins)))


def cupti_did(box: Box) -> list[str]:
    log = box.dir / "cupti"
    return log.read_text().splitlines() if log.exists() else []


def state(box: Box) -> str:
    return str(box.value("SELECT state FROM layers WHERE layer = 'gpu'"))


def reason(box: Box) -> str:
    return str(box.value("SELECT coalesce(reason, '') FROM layers WHERE layer = 'gpu'"))


def test_every_kind_of_record(box: Box) -> None:
    check("as without a recorder", b"refused 2\n", record(box, "work", **WAITS))
    rows = box.rows(
        "SELECT category, name, bytes, stream, count(*), min(device), max(device), any_value(args['clock'])"
        " FROM events WHERE layer = 'gpu' GROUP BY ALL ORDER BY category, name, bytes, stream"
    )
    check(
        "rows",
        [
            ("copy", "memcpy DtoD", 4000, 14, 1, 0, 0, "cupti"),
            ("copy", "memcpy DtoH", 2000, 7, 1, 0, 0, "cupti"),
            ("copy", "memcpy DtoH", 5000, 14, 1, 0, 0, "cupti"),
            ("copy", "memcpy HtoD", 600, 7, 1, 0, 0, "cupti"),
            ("copy", "memcpy HtoD", 700, 14, 3, 0, 0, "cupti"),
            ("copy", "memcpy HtoD", 1000, 7, 1, 0, 0, "cupti"),
            ("copy", "memcpy HtoD", 3000, 14, 1, 0, 0, "cupti"),
            ("kernel", "_Z7nothingi", None, 7, 1, 0, 0, "cupti"),
            ("kernel", "_Z7nothingi", None, 14, 12, 0, 0, "cupti"),
            ("set", "memset", 1000, 14, 1, 0, 0, "cupti"),
            ("set", "memset", 1024, 7, 1, 0, 0, "cupti"),
            ("sync", "sync context", None, None, 6, 0, 0, "cupti"),
            ("sync", "sync stream", None, 14, 2, 0, 0, "cupti"),
        ],
        rows,
    )
    kernels = box.rows(
        "SELECT args['grid'], args['block'], args['shared_memory'], args['registers'], count(*) FROM events"
        " WHERE layer = 'gpu' AND category = 'kernel' AND args['graph'] IS NULL GROUP BY ALL ORDER BY 1"
    )
    check("kernels", [("3x1x1", "32x1x1", None, "32", 1), ("4x2x1", "64x1x1", "1024", "32", 6)], kernels)
    check("losses", 0, box.losses())
    check("no thread, no depth", 0, box.count("layer = 'gpu' AND (tid IS NOT NULL OR depth IS NOT NULL)"))


def test_calls_and_their_work(box: Box) -> None:
    """The call that asked for work bears its number, and the work begins after it has begun."""
    record(box, "work", **WAITS)
    names = box.rows(
        "SELECT c.name, count(*) FROM events g JOIN events c ON c.layer = 'cuda' AND c.correlation = g.correlation"
        " AND c.pid = g.pid WHERE g.layer = 'gpu' GROUP BY ALL ORDER BY ALL"
    )
    check(
        "by call",
        [
            ("cuCtxSynchronize", 1),
            ("cuGraphLaunch", 9),
            ("cuLaunchKernel", 6),
            ("cuLaunchKernelEx", 1),
            ("cuMemFree", 4),
            ("cuMemcpy2D", 1),
            ("cuMemcpyAsync", 1),
            ("cuMemcpyDtoDAsync", 1),
            ("cuMemcpyDtoH", 1),
            ("cuMemcpyHtoD", 1),
            ("cuMemcpyHtoDAsync", 1),
            ("cuMemsetD2D8Async", 1),
            ("cuMemsetD32", 1),
            ("cuModuleUnload", 1),
            ("cuStreamSynchronize", 2),
        ],
        names,
    )
    calls = "SELECT correlation FROM events WHERE layer = 'cuda' AND correlation > 0"
    check("work and waits without a call", 0, box.count(f"layer = 'gpu' AND correlation NOT IN ({calls})"))
    same = "SELECT count(*) FROM events WHERE layer = 'cuda' AND correlation IS NOT NULL GROUP BY pid, correlation"
    check("numbers of two calls", [(0,)], box.rows(f"SELECT count(*) FROM ({same} HAVING count(*) > 1)"))
    check("captured calls", 0, box.count("args['capturing'] = '1' AND correlation IS NOT NULL"))
    early = box.rows(
        "SELECT count(*) FROM events g JOIN events c ON c.layer = 'cuda' AND c.correlation = g.correlation"
        " WHERE g.layer = 'gpu' AND (g.ts < c.ts - 1000 OR g.ts > c.ts + c.dur + 1000)"
    )
    check("work that lies elsewhere in time", [(0,)], early)
    lengths = box.value("SELECT max(abs(dur - 5000)) FROM events WHERE layer = 'gpu'")
    check_true(f"lengths are off by {lengths}", lengths < 100)


def test_a_call_without_a_hook_leaves_no_number(box: Box) -> None:
    """What CUPTI told of a call that is newer than the hooks is not told of the calls after it."""
    for wish in ({}, WAITS):
        record(box, "newer", **wish)
        copy = "SELECT correlation FROM events WHERE layer = 'gpu' AND bytes = 321"
        check_true("it has a number", len(box.rows(copy)) == 1)
        check("calls with it", 0, box.count(f"layer = 'cuda' AND correlation = ({copy})"))
        check("the launch has its own", 1, box.count("name = 'cuLaunchKernel' AND correlation IS NOT NULL"))


def test_waits_are_a_wish(box: Box) -> None:
    """Records of waiting are dear, and the calls are there."""
    record(box, "work")
    check("waits", 0, box.count("layer = 'gpu' AND category = 'sync'"))
    check("kernels", 13, box.count("layer = 'gpu' AND category = 'kernel'"))
    check("calls that waited", 3, box.count("layer = 'cuda' AND category = 'sync' AND correlation IS NULL"))


def test_nesting_is_not_touched(box: Box) -> None:
    """Self times, depths and the tree of the program's threads are the same as without the layer."""
    question = (
        "SELECT name, max(depth), bool_and(self = dur) FROM events WHERE layer = 'cuda' GROUP BY name ORDER BY name"
    )
    record(box, "work", layers="cuda")
    wanted = box.rows(question)
    record(box, "work")
    check("calls", wanted, box.rows(question))
    box.fathom("report", box.trace, "tree")
    box.fathom("report", box.trace, "phases")


def test_whole_graphs(box: Box) -> None:
    record(box, "work", FAKE_CUPTI_LOG="/dev/null", FATHOM_GPU_GRAPHS="whole")
    rows = box.rows(
        "SELECT name, args['graph'], count(*) FROM events WHERE category = 'graph' AND layer = 'gpu' GROUP BY 1, 2"
    )
    check("graphs", [("graph", "1", 3)], rows)
    check("kernels", 7, box.count("layer = 'gpu' AND category = 'kernel'"))


def test_nodes_of_graphs(box: Box) -> None:
    record(box, "work")
    rows = box.rows(
        "SELECT category, args['graph'], count(*), count(DISTINCT args['graph_node']) FROM events"
        " WHERE layer = 'gpu' AND args['graph'] IS NOT NULL GROUP BY ALL ORDER BY ALL"
    )
    check("nodes", [("copy", "1", 3, 1), ("kernel", "1", 6, 2)], rows)


def test_threads(box: Box) -> None:
    number = 20_000 if box.kit.full else 2000
    record(box, "waves", number)
    check("kernels", 4 * number, box.count("layer = 'gpu' AND category = 'kernel'"))
    rows = box.rows(
        "SELECT count(DISTINCT c.tid), count(DISTINCT g.stream), count(*) FROM events g JOIN events c"
        " ON c.layer = 'cuda' AND c.correlation = g.correlation AND c.stream = g.stream WHERE g.category = 'kernel'"
    )
    check("threads, streams, pairs", [(4, 4, 4 * number)], rows)
    check("losses", 0, box.losses())


def test_the_clock_of_older_ones(box: Box) -> None:
    """Before CUDA 11.6 CUPTI keeps to the clock of the day."""
    record(box, "work", FAKE_CUPTI_CLOCK="no", FAKE_CUPTI_VERSION="14")
    check("kernels", 13, box.count("layer = 'gpu' AND category = 'kernel'"))
    check("of graphs, which it does not tell", 0, box.count("layer = 'gpu' AND args['graph'] IS NOT NULL"))
    off = box.value(
        "SELECT max(abs(g.ts - c.ts)) FROM events g JOIN events c ON c.layer = 'cuda' AND c.correlation = g.correlation"
        " WHERE g.category = 'kernel'"
    )
    check_true(f"kernels are off by {off} ns", off < 50_000_000)


def test_dropped_records_are_counted(box: Box) -> None:
    record(box, "burst", 1000, FAKE_CUPTI_DROP="10")
    kernels = box.count("layer = 'gpu'")
    check("rows and losses", 1000, kernels + box.lost("records that CUPTI had no room for"))
    check("lost", 100, box.lost("records that CUPTI had no room for"))


def test_held_by_another_tool(box: Box) -> None:
    check("unharmed", b"refused 2\n", record(box, "work", FAKE_CUPTI_HELD="Nsight Systems"))
    check("rows", 0, box.count("layer = 'gpu'"))
    check("said", "another tool holds CUPTI: CUPTI for Nsight Systems", reason(box))
    check_true("calls are recorded", box.count("layer = 'cuda'") > 20)


def test_what_run_says(box: Box) -> None:
    """Who chooses the layer is told what it brought into the program, or why it did not."""
    for more, words in (
        ({}, b"CUPTI ran inside the program"),
        ({"FAKE_CUPTI_HELD": "Nsight"}, b"another tool holds CUPTI"),
    ):
        command = (box.kit.fathom, "run", "--force", "--layers", "gpu", "-o", box.trace, "--", program(box), "resolver")
        _, told = box.finish(box.start(*command, "work", env=with_cupti(box, **more)))
        check_true(f"{words!r} in {told!r}", words in told)


def test_newer_than_the_driver(box: Box) -> None:
    check("unharmed", b"refused 2\n", record(box, "work", FAKE_CUPTI_FAIL="15"))
    wanted = "CUPTI: cuptiSubscribe failed with 15 (CUPTI_ERROR_NOT_INITIALIZED); it may be newer than the driver"
    check("said", wanted, reason(box))


def test_a_tool_of_the_program(box: Box) -> None:
    """A program that subscribes itself while we hold CUPTI gets it: we give way."""
    source = box.dir / "tool.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n"
        "int cuptiSubscribe(void**, void (*)(void*, int, unsigned, const void*), void*);\n"
        "int cuInit(unsigned), cuDevicePrimaryCtxRetain(void**, int), cuCtxSetCurrent(void*), cuCtxSynchronize(void);\n"
        "static void nothing(void* a, int b, unsigned c, const void* d) { (void)a, (void)b, (void)c, (void)d; }\n"
        "int main(void) {\n  void *context, *tool;\n"
        "  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) return 1;\n"
        "  cuCtxSynchronize();\n"
        '  printf("%d\\n", cuptiSubscribe(&tool, nothing, NULL));\n  cuCtxSynchronize();\n  return 0;\n}\n'
    )
    main = box.dir / "tool"
    subprocess.run(["cc", str(source), str(driver(box)), str(cupti(box)), "-o", str(main)], check=True)
    for layers in ("gpu", "cuda"):
        command = (box.kit.fathom, "run", "-q", "--force", "--layers", layers, "-o", box.trace, "--", main)
        check(f"{layers}: subscribed", b"0\n", box.run(*command, env=with_cupti(box)))
    check("bare", b"0\n", box.run(main, env=with_cupti(box)))
    did = cupti_did(box)
    wanted = ["subscribe", "flush", "flush", "unsubscribe", "finalize at the end of a call", "subscribe"]
    check("with the layer", wanted, did[: len(wanted)])
    check("without", ["subscribe"] * 2, did[len(wanted) :])
    command = (box.kit.fathom, "run", "-q", "--force", "--layers", "gpu", "-o", box.trace, "--", main)
    box.run(*command, env=with_cupti(box, **WAITS))
    check("said", "a tool of the program took CUPTI over while it was recorded", reason(box))
    check("what came before is there", 1, box.count("layer = 'gpu' AND category = 'sync'"))


def test_switched_off_and_on(box: Box) -> None:
    """cuProfilerStop takes CUPTI down, at the end of a call of the driver; cuProfilerStart begins anew."""
    record(box, "switch", 100)
    stop, start = (f"(SELECT min(ts) FROM events WHERE name = 'cuProfiler{what}')" for what in ("Stop", "Start"))
    off = f"ts > {stop} AND ts < {start}"
    kernels, calls, meanwhile, without, numbers, losses = box.values(
        COUNT.format("layer = 'gpu' AND category = 'kernel'"),
        COUNT.format("name = 'cuLaunchKernel'"),
        COUNT.format(f"layer = 'gpu' AND {off}"),
        COUNT.format(f"name = 'cuLaunchKernel' AND correlation IS NULL AND {off}"),
        "SELECT count(DISTINCT correlation) FROM events WHERE name = 'cuLaunchKernel'",
        LOSSES,
    )
    check("kernels", 200, kernels)
    check("calls", 300, calls)
    check("meanwhile", 0, meanwhile)
    check("without a number", 100, without)
    check("numbers", 200, numbers)
    check("losses", 0, losses)
    check("finalised", 1, cupti_did(box).count("finalize at the end of a call"))
    check("subscribed", 2, cupti_did(box).count("subscribe"))


def test_a_range_alone(box: Box) -> None:
    """FATHOM_GPU_RANGE=profiler: not before cuProfilerStart."""
    record(box, "switch", 100, FATHOM_GPU_RANGE="profiler")
    check("kernels", 100, box.count("layer = 'gpu' AND category = 'kernel'"))


def test_left_without_a_word(box: Box) -> None:
    """A process that ends by _exit has what was flushed when it waited for the device."""
    record(box, "leave", 500)
    check("kernels", 500, box.count("layer = 'gpu' AND category = 'kernel'"))


def test_two_processes(box: Box) -> None:
    record(box, "fork")
    rows = box.rows("SELECT pid, count(*) FROM events WHERE layer = 'gpu' AND category = 'kernel' GROUP BY pid")
    check("kernels of each", [13, 13], [count for _, count in rows])


def test_forked_while_cupti_was_at_work(box: Box) -> None:
    """Children that use the driver have no times, and say so; who does not use it says nothing."""
    record(box, "workers", 0)
    check("one that does nothing", ("on", ""), (state(box), reason(box)))
    record(box, "workers", 2)
    check("the parent's kernel alone", 1, box.count("layer = 'gpu'"))
    check("launches", 7, box.count("name = 'cuLaunchKernel'"))
    check("numbers of nothing", 1, box.count("name = 'cuLaunchKernel' AND correlation IS NOT NULL"))
    wanted = "a process that was forked while CUPTI was at work has no times of the device"
    check("said", ("partial", wanted), (state(box), reason(box)))
    check_true("info says so", wanted.encode() in box.fathom("info", box.trace))


def record_without(box: Box, what: str, number: int, **more: str) -> None:
    command = (box.kit.fathom, "run", "-q", "--layers", "gpu", "-o", box.trace, "--", program(box), "resolver")
    box.run(*command, what, number, env=environment(box, **more))


def test_without_cupti(box: Box) -> None:
    """One launch of many stands between two events."""
    record_without(box, "burst", 640, FATHOM_GPU_SAMPLE="10")
    rows = box.rows(
        "SELECT name, args['clock'], args['grid'], count(*), count(DISTINCT correlation) FROM events"
        " WHERE layer = 'gpu' GROUP BY 1, 2, 3"
    )
    check("pairs", [("_Z7nothingi", "events", "4x2x1", 64, 64)], rows)
    check("calls", 64, box.count("name = 'cuLaunchKernel' AND correlation IS NOT NULL"))
    check_true("they take time", box.count("layer = 'gpu' AND dur >= 4900") == 64)
    check("calls of ours", 0, box.count("layer = 'cuda' AND category = 'event'"))
    check_true("said", "no CUPTI was found" in reason(box))


def test_pairs_and_captures(box: Box) -> None:
    """Nothing of ours gets into a graph."""
    record_without(box, "work", 1, FATHOM_GPU_SAMPLE="1")
    check("launches that ran", 7, box.count("layer = 'gpu'"))
    nodes = "SELECT DISTINCT args['graph_kernels'], args['graph_copies'] FROM events WHERE name = 'cuGraphLaunch'"
    check("nodes", [("2", "1")], box.rows(nodes))


def test_pairs_of_many_contexts(box: Box) -> None:
    """Events of ours go with their context or before it, and a context that comes later has some, too."""
    number = 300
    record_without(box, "contexts", number, FATHOM_GPU_SAMPLE="1", FAKE_CUDA_EVENTS=str(box.dir / "events"))
    left, most = map(int, (box.dir / "events").read_text().split())
    check_true(f"events that are left, at most: {left}, {most}", 0 < left <= 16 and most <= 16)
    check("each launch between two of them", 2 * number, box.count("layer = 'gpu'"))


def test_layer_cuda_alone(box: Box) -> None:
    """It loads no CUPTI, asks it for nothing, and its calls bear no number."""
    record(box, "work", layers="cuda,posix")
    check("CUPTI", [], cupti_did(box))
    check("numbers", 0, box.count("correlation IS NOT NULL"))
    check("rows", 0, box.count("layer = 'gpu'"))


def test_what_cupti_does_is_not_the_programs(box: Box) -> None:
    """Files that CUPTI opens while it is asked are not the program's."""
    record(box, "work", layers="gpu,posix")
    check("files of ours", 0, box.count(f"layer = 'posix' AND file LIKE '{box.dir}/cupti%'"))
