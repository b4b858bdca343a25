# SPDX-License-Identifier: MIT
"""What `auto` and `watch` of the frameworks give back."""

from __future__ import annotations

from types import TracebackType
from typing import Callable


class Watch:
    """What is watched until `remove`; also a context manager."""

    def __init__(self, remove: Callable[[], None] | None) -> None:
        self._remove = remove  # None: nothing is recorded, so nothing was hooked

    def remove(self) -> None:
        """Takes the hooks away; once more does nothing."""
        remove, self._remove = self._remove, None
        if remove is not None:
            remove()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()
