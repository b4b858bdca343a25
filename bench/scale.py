# SPDX-License-Identifier: MIT
"""How time and memory grow with the number of events (`./dev bench scale`).

usage: bench/run scale [--millions 1,10,100] [--only PART] [--format table|json|md] [--no-peer] [--limit S]
       [--folder DIR]

A generator writes the spool of a training job (four processes, two threads each, a thousand files); then each command
runs once for each size: packing, every view of `report`, a GROUP BY, every format of `export` (into /dev/null where the
format can). Time is that of the whole command, memory the largest resident size of it. Up to 10 M events, DFTracer's
own tools answer the same questions from the same events as .pfw.gz.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import tables
from dftracer import PEERS, python_with

TOP = Path(__file__).resolve().parent.parent
UTILS = "dftracer-utils==0.0.14"
PEER_MOST = 10  # million events: its index of more takes minutes
GROUP_BY = "SELECT file, name, count(*), sum(bytes), avg(dur) FROM events GROUP BY file, name"
# A command whose memory is no larger than this, or than this many times that of a tenth of the events, is flat.
FLAT_MIB, FLAT_TIMES = 64, 1.25
TOO_SHORT_S = 0.5  # times below say nothing about growth
FASTER_THAN_DATA = 11.0  # a decade of data, and the noise of one run


@dataclass
class Cost:
    seconds: float
    mib: float


@dataclass
class Job:
    name: str
    command: Callable[[Path], list[str]]
    most: int = 1 << 30  # million events


def cost_of(command: list[str], folder: Path, limit: int = 3600) -> Cost:
    """Of one run of at most `limit` seconds. Its output goes nowhere, what it says on stderr into the error."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(["timeout", str(limit), *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            said.seek(0)
            raise subprocess.CalledProcessError(child.returncode, command, stderr=said.read().decode()[-400:])
    return Cost(time.monotonic() - begin, used.ru_maxrss / 1024)


def listed(fathom: Path, command: str, mark: str) -> list[str]:
    """The names that a line of the command's help lists behind `mark`."""
    text = subprocess.run([fathom, command, "--help"], capture_output=True, text=True, check=True).stdout
    found = re.search(rf"^ +{mark} +(?:what to show: )?([a-z, -]+)", text, re.MULTILINE)
    return re.findall(r"[a-z-]+", found[1]) if found else []


def exports(fathom: Path, folder: Path) -> Iterator[Job]:
    for form in listed(fathom, "export", "--format FORMAT"):
        out = str(folder / "out.parquet") if form == "parquet" else "/dev/null"
        yield Job(
            f"export {form}",
            lambda trace, form=form, out=out: [str(fathom), "export", str(trace), "--format", form, "-o", out],
        )


def jobs(fathom: Path, folder: Path) -> list[Job]:
    def ask(*words: str) -> Callable[[Path], list[str]]:
        return lambda trace: [str(fathom), words[0], str(trace), *words[1:]]

    views = [Job(f"report {view}", ask("report", view)) for view in listed(fathom, "report", "VIEW")]
    first = [
        Job("pack", ask("collect", "-q")),
        *views,
        Job("GROUP BY file, name", ask("sql", GROUP_BY, "--format", "csv")),
    ]
    return [*first, *exports(fathom, folder)]


def peer_jobs(folder: Path) -> list[Job]:
    """DFTracer's tools on folder/peer/trace.pfw.gz; none where they cannot be had."""
    if python_with("dftracer-utils", UTILS) is None:
        return []
    stats = [str(PEERS / "dftracer-utils" / "bin" / "dftracer_stats"), "--files", str(folder / "peer" / "trace.pfw.gz")]
    group = [*stats, "--report", "detailed", "--group-by", "name"]
    kinds = {"first report, index and all": stats, "second report": stats, "GROUP BY name": group}
    return [Job(f"dftracer-utils: {name}", lambda _, words=words: words, PEER_MOST) for name, words in kinds.items()]


class Scale:
    def __init__(self, build: Path, folder: Path, only: str, peer: bool, limit: int) -> None:
        self.fathom, self.folder, self.only = build / "fathom", folder, only
        self.spool = build / "bench" / "scale_spool"
        subprocess.run(
            ["cmake", "--build", str(build), "--target", "scale_spool"], check=True, stdout=subprocess.DEVNULL
        )
        self.jobs = [*jobs(self.fathom, folder), *(peer_jobs(folder) if peer else [])]
        self.costs: dict[str, dict[int, Cost]] = {job.name: {} for job in self.jobs}
        self.failed: dict[str, list[int]] = {job.name: [] for job in self.jobs}
        self.limit = limit

    def run(self, millions: int, progress: bool) -> None:
        trace = self.folder / f"scale-{millions}.fathom"
        subprocess.run([self.spool, trace, str(millions * 1_000_000)], check=True, stdout=subprocess.DEVNULL)
        for job in self.jobs:
            wanted = job.name == "pack" or self.only in job.name
            if not wanted or millions > job.most:
                continue
            if job.name.startswith("dftracer-utils"):
                self.export_for_peer(trace)
            try:
                cost = cost_of(job.command(trace), self.folder, self.limit)
            except subprocess.CalledProcessError as error:
                self.failed[job.name].append(millions)
                print(f"{millions} M, {job.name}: exit {error.returncode}: {error.stderr.strip()}", file=sys.stderr)
                continue
            self.costs[job.name][millions] = cost
            if progress:
                print(
                    f"{millions} M, {job.name}: {cost.seconds:.2f} s, {cost.mib:.0f} MiB", file=sys.stderr, flush=True
                )
        shutil.rmtree(trace)
        shutil.rmtree(self.folder / "peer", ignore_errors=True)
        (self.folder / "out.parquet").unlink(missing_ok=True)

    def export_for_peer(self, trace: Path) -> None:
        out = self.folder / "peer" / "trace.pfw.gz"
        if out.exists():
            return
        out.parent.mkdir()
        subprocess.run([self.fathom, "export", trace, "--format", "pfw", "-o", out], check=True)


def verdict(costs: dict[int, Cost]) -> str:
    """Of the last two sizes that are a decade apart."""
    for large in sorted(costs, reverse=True):
        small = costs.get(large // 10)
        if small is None:
            continue
        grows = costs[large].mib > max(FLAT_MIB, FLAT_TIMES * small.mib)
        slow = costs[large].seconds > TOO_SHORT_S and costs[large].seconds > FASTER_THAN_DATA * max(small.seconds, 0.05)
        return ", ".join([*(["memory GROWS"] * grows), *(["time GROWS FASTER"] * slow)]) or "flat"
    return ""


def factors(costs: dict[int, Cost]) -> str:
    """Time against that of a tenth of the events."""
    pairs = [(costs[n], costs[n // 10]) for n in sorted(costs) if n // 10 in costs]
    return ", ".join(f"{large.seconds / max(small.seconds, 0.001):.1f}" for large, small in pairs)


def lines_of(scale: Scale, sizes: list[int]) -> list[list[str]]:
    lines = [["what", *(f"{size} M events" for size in sizes), "time x", "verdict"]]
    for name, by_size in scale.costs.items():
        if not by_size and not scale.failed[name]:
            continue
        cells = [f"{by_size[n].seconds:.2f} s, {by_size[n].mib:.0f} MiB" if n in by_size else "" for n in sizes]
        judged = "" if name.startswith("dftracer") else verdict(by_size)
        if scale.failed[name]:
            judged = f"FAILED at {', '.join(f'{size} M' for size in scale.failed[name])}"
        lines.append([name, *cells, factors(by_size), judged])
    return lines


def main(words: list[str], machine: str) -> int:
    parser = argparse.ArgumentParser(
        prog="bench/run scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--millions", default="1,10,100", help="sizes in million events; 1000 needs about 25 GB of disk"
    )
    parser.add_argument("--only", default="", help="commands whose name holds this; packing is always there")
    parser.add_argument("--format", choices=("table", "json", "md"), default="table")
    parser.add_argument("--limit", type=int, default=3600, help="seconds that a command may take (3600)")
    parser.add_argument("--no-peer", action="store_true", help="without DFTracer's tools")
    parser.add_argument("--folder", default=None, help="where recordings are made (a temporary folder)")
    options = parser.parse_args(words)
    sizes = [int(word) for word in options.millions.split(",")]
    build = Path(os.environ.get("FATHOM_BUILD", TOP / "build")).resolve()
    with tempfile.TemporaryDirectory(prefix="fathom-scale-", dir=options.folder, ignore_cleanup_errors=True) as folder:
        scale = Scale(build, Path(folder), options.only, not options.no_peer, options.limit)
        for millions in sizes:
            scale.run(millions, progress=options.format == "table")
    if options.format == "json":
        by_name = {name: {n: vars(cost) for n, cost in costs.items()} for name, costs in scale.costs.items() if costs}
        print(
            json.dumps(
                {"machine": machine, "costs": by_name, "failed": {k: v for k, v in scale.failed.items() if v}}, indent=1
            )
        )
    else:
        lines = lines_of(scale, sizes)
        print(f"{machine}\n\n{tables.markdown(lines) if options.format == 'md' else tables.text(lines)}")
    return 0
