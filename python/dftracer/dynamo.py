# SPDX-License-Identifier: MIT
"""DFTracer 1.x: `from dftracer.dynamo import dft_fn`, whose `compile` times the operations of a compiled function."""

from __future__ import annotations

from dataclasses import dataclass

from dftracer._events import native
from dftracer.logger.logger import DFTRACER_ENABLE, DFTRACER_ENABLE_ENV, dftracer
from dftracer.python.dynamo import CAT_DYNAMO, Dynamo, create_detailed_op_name

__all__ = ["DFTRACER_ENABLE", "DFTRACER_ENABLE_ENV", "TraceRecord", "create_detailed_op_name", "dft_fn", "dftracer"]


@dataclass
class TraceRecord:
    """An operation that has ended."""

    name: str
    cat: str
    timestamp_us: int
    duration_us: float
    grad_enabled: bool


class dft_fn(Dynamo):  # noqa: N801
    _instance: dft_fn | None = None

    def __init__(self, name: str = CAT_DYNAMO, enabled: bool = True) -> None:
        super().__init__(name, enabled)
        type(self)._instance = self

    @classmethod
    def get_instance(cls) -> dft_fn:
        return cls._instance or cls()

    def log_event(self, event: TraceRecord) -> None:
        if self._on:
            words = {"grad_enabled": str(event.grad_enabled)}
            native.log_event(event.name, event.cat, event.timestamp_us, int(event.duration_us), None, words)
