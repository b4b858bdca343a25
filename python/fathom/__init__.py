# SPDX-License-Identifier: MIT
"""Fathom in Python: what a program tells about itself, and recordings opened for questions.

>>> import fathom
>>> @fathom.trace
... def load(path):
...     with fathom.region("decode", file=path):
...         ...
>>> with fathom.open("sort.fathom") as recording:
...     recording.sql("SELECT name, sum(dur) AS time FROM events GROUP BY name").df()

Importing this loads nothing but the standard library and, for the annotations, one small extension; what records comes
where FATHOM_OUT is set, the engine of questions with the first recording that is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, Union

from fathom._error import Error
from fathom._places import folders, own_folder

# The extension is built for one Python, and lies apart.
__path__ += [*(f"{folder}/python" for folder in folders()), *own_folder()]

from fathom.annotate import arg, counter, instant, iter, metadata, region, trace  # noqa: E402
from fathom.daemon import connect, disconnect  # noqa: E402

if TYPE_CHECKING:
    import os

    from fathom.recording import Recording

    Path = Union[str, "os.PathLike[str]"]

__all__ = [
    "Error",
    "arg",
    "connect",
    "counter",
    "disconnect",
    "instant",
    "iter",
    "metadata",
    "open",
    "region",
    "trace",
]


def open(paths: Path | Sequence[Path], *, threads: int | None = None, memory: str | None = None) -> Recording:
    """A recording, a directory of recordings, one on a server, or several of these, opened as one.

    On a server it is `"https://HOST:PORT/recordings/NAME"`, with a token in the variable FATHOM_TOKEN: files come when
    a question reads their table, and stay in `~/.cache/fathom`.

    Nothing in it is changed: what is not packed into Parquet yet is decoded into memory. `threads` are those of the
    database, by default one a core. A question that makes this process grow by more than `memory` ("2GB", by default
    half of what it may have) raises Error.
    """
    from fathom.recording import Recording

    return Recording(paths, threads=threads, memory=memory)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext fathom` brings the magic `%%fathom`."""
    from fathom.notebook import register

    register(shell)


def __getattr__(name: str) -> Any:
    if name in ("dask", "jax", "keras", "tensorflow", "torch"):
        import importlib

        return importlib.import_module(f"fathom.{name}")
    if name == "__version__":
        from fathom._native import version

        return version()
    raise AttributeError(f"module 'fathom' has no attribute {name!r}")
