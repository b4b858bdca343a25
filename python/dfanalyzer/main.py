# SPDX-License-Identifier: MIT
"""`from dfanalyzer.main import DFAnalyzer`: traces are imported into a recording, and Fathom's engine answers.

There is no cluster to set up and nothing to configure: what does that is accepted and does nothing.
"""

from __future__ import annotations

import glob
import logging
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import fathom
from fathom._places import find

from dfanalyzer.plots import DFAnalyzerPlots

__all__ = [
    "DFAnalyzer",
    "DFTConfiguration",
    "dft_configuration",
    "get_conditions_default",
    "get_dft_configuration",
    "main",
    "reset_dask_cluster",
    "setup_dask_cluster",
    "setup_logging",
    "update_dft_configuration",
]

_CALLS = """SELECT name, count(*) AS calls, min(bytes) AS low, quantile_cont(bytes, 0.25) AS early, avg(bytes) AS mean,
 median(bytes) AS median, quantile_cont(bytes, 0.75) AS late, max(bytes) AS high
 FROM events WHERE layer IN ('posix', 'stdio') GROUP BY name ORDER BY name"""
_SIZES = ("low", "early", "mean", "median", "late", "high")
_TIMES = {
    "Overall App Level I/O": "app_io",
    "Unoverlapped App I/O": "unoverlapped_app_io",
    "Compute": "compute",
    "Overall I/O": "posix_io",
    "Unoverlapped I/O": "unoverlapped_posix_io",
    "Unoverlapped Compute": "unoverlapped_compute",
}


class DFTConfiguration:
    """What programs set. Nothing here needs it."""

    def __init__(self) -> None:
        self.verbose = self.debug = False
        self.workers = 1
        self.log_file = ""
        self.conditions: Any = None


dft_configuration = DFTConfiguration()


def get_dft_configuration() -> DFTConfiguration:
    return dft_configuration


def update_dft_configuration(**settings: Any) -> DFTConfiguration:
    for name, value in settings.items():
        setattr(dft_configuration, name, value)
    return dft_configuration


def get_conditions_default(json_obj: dict[str, Any]) -> tuple[bool, bool, bool]:
    """Of an event: application's I/O, compute, POSIX I/O."""
    app_io = json_obj.get("cat") in ("POSIX", "STDIO")
    return app_io, "compute" in str(json_obj.get("name", "")), app_io


def setup_logging() -> None:
    logging.basicConfig(level=logging.INFO if dft_configuration.verbose else logging.WARNING)


def setup_dask_cluster() -> None:
    """There is none."""


def reset_dask_cluster() -> None:
    """There is none."""


def _size(value: float | None) -> str:
    if value is None:
        return "NA"
    for unit in ("", "KB", "MB", "GB", "TB"):
        if value < 1024 or unit == "TB":
            break
        value /= 1024
    return f"{value:.0f}{unit}"


class DFAnalyzer:
    """Traces that a pattern names, as a recording: `recording` is what to ask further."""

    def __init__(
        self,
        file_pattern: str,
        load_fn: Any = None,
        load_cols: Any = None,
        load_data: Any = None,
        metadata_cols: Any = None,
    ) -> None:
        if any((load_fn, load_cols, load_data, metadata_cols)):
            raise NotImplementedError(
                "DFAnalyzer's load_fn and columns are not read: arguments of events are in column args, as in "
                "analyzer.recording.sql(\"SELECT args['step'] FROM events\")"
            )
        files = sorted(
            name
            for name in glob.glob(file_pattern)  # noqa: PTH207
            if name.endswith((".pfw", ".pfw.gz"))
        )
        if not files:
            raise FileNotFoundError(f"no file .pfw or .pfw.gz is named by {file_pattern}")
        self._folder = tempfile.TemporaryDirectory(prefix="dfanalyzer-")
        trace = Path(self._folder.name) / "traces.fathom"
        done = subprocess.run(
            [find("fathom"), "import", *files, "-o", trace], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        self.recording = fathom.open(str(trace))
        self.plots = DFAnalyzerPlots()

    def __getattr__(self, name: str) -> Any:
        if name == "events":
            raise AttributeError(
                "DFAnalyzer.events: write analyzer.recording.dask('events') for a Dask data frame, or "
                "analyzer.recording.sql('SELECT … FROM events').df(); docs/views.md has the columns"
            )
        raise AttributeError(f"'DFAnalyzer' object has no attribute '{name}'")

    def summary(self) -> dict[str, Any]:
        """Prints what the run was, in DFAnalyzer's words, and gives the numbers back; times in ns."""
        numbers = self.recording.io_summary()
        numbers["nodes"] = self.recording.sql("SELECT count(DISTINCT host) FROM processes").value()
        numbers["total_time"] = self.recording.sql("SELECT max(ts + dur) - min(ts) FROM events").value() or 0
        print("Summary")
        print("  Allocation")
        for title, key in (("Nodes", "nodes"), ("Processes", "processes"), ("Threads", "threads")):
            print(f"    {title}: {numbers[key]}")
        print(f"    Events Recorded: {numbers['events']}")
        print(f"  Dataset\n    Files: {numbers['files']}")
        print("  I/O Behavior")
        print(f"    Total Time: {numbers['total_time'] / 1e9:.3f} sec")
        for title, key in _TIMES.items():
            if numbers.get(key):
                print(f"    {title}: {numbers[key] / 1e9:.3f} sec")
        self._print_calls()
        return numbers

    def _print_calls(self) -> None:
        print("    Metrics by function")
        print(f"      {'Function':<16}{'count':>10}" + "".join(f"{name:>8}" for name in ("min", "25", "mean")), end="")
        print("".join(f"{name:>8}" for name in ("median", "75", "max")))
        for row in self.recording.sql(_CALLS).dicts():
            print(f"      {row['name']:<16}{row['calls']:>10}" + "".join(f"{_size(row[key]):>8}" for key in _SIZES))


def main() -> None:
    """dfanalyzer.main PATTERN…"""
    for pattern in sys.argv[1:]:
        DFAnalyzer(pattern).summary()


if __name__ == "__main__":
    main()
