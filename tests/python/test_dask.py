# SPDX-License-Identifier: MIT
"""A real Dask cluster: a scheduler and two workers, processes of their own, on this machine."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Iterator, List

import fathom
from kit import Failure, expect
from test_results import refused
from world import invented, need, small, unpacked

BY_NAME = "SELECT name, count(*) AS calls, sum(bytes)::BIGINT AS bytes FROM events GROUP BY name"

# In a worker: its first recording is opened only when the test says so, and the test can see that it is at it.
PRELOAD = """
import os, pathlib, time
import fathom.recording
place = pathlib.Path(os.environ["FATHOM_TEST_PLACE"])
opened = fathom.recording.Recording.__init__
def open_later(self, *arguments, opened=opened, **keywords):
    (place / f"began-{os.getpid()}").touch()
    while not (place / "go").exists():
        time.sleep(0.01)
    opened(self, *arguments, **keywords)
fathom.recording.Recording.__init__ = open_later
"""


def until(what: str, ready, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise Failure(f"no {what} within {seconds} s")
        time.sleep(0.02)


@contextlib.contextmanager
def cluster(root: Path) -> Iterator[List[int]]:
    """The pids of two workers whose scheduler is told of in root/scheduler.json."""
    (root / "preload.py").write_text(PRELOAD)
    common = ["--scheduler-file", str(root / "scheduler.json"), "--no-dashboard"]
    worker = ["worker", *common, "--no-nanny", "--nthreads", "1", "--preload", str(root / "preload.py")]
    worker += ["--local-directory", str(root)]
    commands = [["scheduler", *common, "--host", "127.0.0.1", "--port", "0"], worker, worker]
    processes = []
    try:
        for number, words in enumerate(commands):
            with (root / f"{number}.log").open("wb") as log:
                command = [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:]]
                env = {**os.environ, "FATHOM_TEST_PLACE": str(root)}
                processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=env))
            if number == 0:
                until("scheduler", (root / "scheduler.json").exists)
        yield [process.pid for process in processes[1:]]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def tables_of(report) -> List[object]:
    return [(table.title, table.columns, table.rows(), table.note) for table in report.tables]


def test_sums_are_equal_to_the_last_digit_though_a_worker_dies(root: Path) -> None:
    need("distributed", "pandas", "pyarrow")
    from distributed import Client
    from fathom import dask as cluster_of

    paths = [invented(root, 1), invented(root, 2), unpacked(root)]
    with cluster(root) as workers, Client(scheduler_file=str(root / "scheduler.json")) as client:
        client.wait_for_workers(2, timeout=60)
        reports = []
        asking = threading.Thread(target=lambda: reports.append(cluster_of.report(client, paths)))
        asking.start()
        until("work on both workers", lambda: all((root / f"began-{pid}").exists() for pid in workers))
        os.kill(workers[0], signal.SIGKILL)
        (root / "go").touch()
        asking.join(timeout=120)
        if not reports:
            raise Failure("the report did not come")
        with fathom.open(paths) as together:
            expect("functions", tables_of(together.report("functions")), tables_of(reports[0]))
            with cluster_of.gather(client, paths) as gathered:
                for view in cluster_of.sum_views():
                    expect(view, tables_of(together.report(view)), tables_of(gathered.report(view)))
                by = {"by": ["host", "file"], "top": 0}
                wanted = tables_of(together.report("functions", **by))
                expect("by host and file", wanted, tables_of(gathered.report("functions", **by)))
            sums = {}
            for name, calls, moved in zip(*cluster_of.sql(client, paths, BY_NAME).to_pydict().values()):
                before = sums.get(name, (0, None))
                sums[name] = (before[0] + calls, before[1] if moved is None else (before[1] or 0) + moved)
            asked = sorted((name, *numbers) for name, numbers in sums.items())
            expect("asked apart", sorted(together.sql(BY_NAME).rows()), asked)
        expect("not a sum", "usage", refused(cluster_of.report, client, paths, "resources").code)
        expect("grouped by events", "usage", refused(cluster_of.report, client, paths, "layers", by="tid").code)
        sums = {"functions", "files", "directories", "patterns", "layers", "ranks", "sizes", "latencies", "timeline"}
        expect("the views that are sums", set(), sums - set(cluster_of.sum_views()))
        expect("no recording", "not_found", refused(cluster_of.report, client, [root / "none"]).code)


def test_frames_hold_what_sql_tells(root: Path) -> None:
    need("dask", "pandas", "pyarrow")
    import dask

    with dask.config.set(scheduler="sync"), fathom.open([small(root), invented(root, 1)]) as recording:
        for table in ("events", "intervals", "counters", "samples", "processes", "threads", "inodes"):
            frame = recording.dask(table).compute()
            wanted = recording.table(table).arrow()
            expect(f"columns of {table}", wanted.column_names, list(frame.columns))
            got = [tuple(None if value is not value or str(value) == "<NA>" else value for value in row) for row in
                   frame.drop(columns=["args", "meta", "hist"], errors="ignore").itertuples(index=False)]  # fmt: skip
            plain = [name for name in wanted.column_names if name not in ("args", "meta", "hist")]
            rows = [tuple(row.values()) for row in wanted.select(plain).to_pylist()]
            expect(f"rows of {table}", sorted(rows, key=str), sorted(got, key=str))
        events = recording.dask()
        sums = events.groupby("name").bytes.sum().compute().to_dict()
        exact = recording.sql("SELECT name, coalesce(sum(bytes), 0) FROM events GROUP BY name").rows()
        expect("sums of 64 bits", dict(exact), {name: int(value) for name, value in sums.items()})
        expect("one column", recording.sql("SELECT sum(self) FROM events").value(), int(events.self.sum().compute()))
        expect("no such table", "invalid", refused(recording.dask, "nonsense").code)
