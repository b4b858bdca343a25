# SPDX-License-Identifier: MIT
"""What an annotation is where nothing is recorded: what the program said of it."""

from __future__ import annotations

import inspect
from typing import Any


class Marker:
    """As `fathom._record.Marker`, which it stands for."""

    def __init__(
        self,
        cat: Any,
        name: Any = None,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        enable: Any = True,
    ) -> None:
        self._enable = enable
        self._on = False
        self._cat = cat
        self._name = name or inspect.currentframe().f_back.f_code.co_name  # type: ignore[union-attr]
        self._arguments: dict[str, Any] = {}
        self._start = 0

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing was begun."""

    def _close(self) -> bool:
        return False

    def _restart(self) -> None:
        """Nothing is timed."""
