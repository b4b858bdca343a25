# SPDX-License-Identifier: MIT
"""Annotations where the extension was not built for this Python: they do nothing, and a recording says why."""

from __future__ import annotations

import sys
from typing import Any, Callable, Iterable, Iterator, TypeVar

_Item = TypeVar("_Item")


class Region:
    def __enter__(self) -> Region:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


_region = Region()


def is_bound() -> bool:
    return False


def load(path: str) -> bool:
    """The library records the program's I/O all the same, and hears why layer app is empty."""
    try:
        import ctypes

        library = ctypes.CDLL(None)
        if not hasattr(library, "fathom_metadata"):
            library = ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
    except (ImportError, OSError):
        return False
    version = sys.version.split()[0]
    text = f"Python {version}: there is no extension of Fathom for it, and annotations do nothing"
    library.fathom_metadata(b"reason:app", text.encode())
    return False


def tracing(on: bool) -> bool:
    del on
    return False


def wrap(wrapped: Callable[..., Any], name: str, category: str | None, file: str | None, line: int) -> Any:
    del name, category, file, line
    return wrapped


def region(name: object, /, *, category: str | None = None, **arguments: object) -> Region:
    del name, category, arguments
    return _region


def iter(iterable: Iterable[_Item], name: object, /) -> Iterator[_Item]:
    del name
    return iterable.__iter__()


def arg(key: object, value: object, /) -> None:
    pass


def counter(name: object, value: Any, /) -> None:
    pass


def instant(name: object, /) -> None:
    pass


def metadata(key: object, value: object, /) -> None:
    pass
