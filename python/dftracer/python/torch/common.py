# SPDX-License-Identifier: MIT
"""What torch.profiler saw, as events: `torch.profiler.profile(on_trace_ready=trace_handler)`."""

from __future__ import annotations

from typing import Any

from dftracer._events import native
from dftracer.python.common import dftracer

__all__ = ["dftracer", "trace_handler"]

_WHOLE = ("cpu_memory_usage", "device_memory_usage", "is_remote")
_PERCENT = ("total_cpu_percent", "total_device_percent")


def _begin_us(result: Any) -> int:
    """When the profiler began, in microseconds since 1970; its events are relative to that."""
    kineto = getattr(getattr(result, "profiler", None), "kineto_results", None)
    for method, divisor in (("trace_start_ns", 1000), ("trace_start_us", 1)):
        if hasattr(kineto, method):
            return int(getattr(kineto, method)()) // divisor
    return dftracer.get_instance().start_time


def _whole(event: Any) -> dict[str, int]:
    numbers = {key: int(getattr(event, key, 0) or 0) for key in _WHOLE}
    device = getattr(event, "device_type", 0)
    numbers["device"] = int(getattr(device, "value", device))
    numbers["input_size"] = sum(len(shape) for shape in getattr(event, "input_shapes", None) or [])
    return numbers


def trace_handler(profiler_result: Any) -> None:
    if native is None:
        return
    begin = _begin_us(profiler_result)
    for event in profiler_result.events():
        floats = {key: float(getattr(event, key, 0) or 0) for key in _PERCENT}
        start = int(event.time_range.start + begin)
        duration = int(event.time_range.elapsed_us())
        native.log_event(event.key, "PP", start, duration, _whole(event), None, floats)
