# SPDX-License-Identifier: MIT
"""DFAnalyzer's drawings: Fathom's are another's."""

from __future__ import annotations

from typing import Any, NoReturn


def _instead(name: str, ours: str) -> Any:
    def drawing(*given: Any, **named: Any) -> NoReturn:
        raise NotImplementedError(f"DFAnalyzerPlots.{name}: write analyzer.recording.plot.{ours}")

    return staticmethod(drawing)


class DFAnalyzerPlots:
    time_bw_timeline = _instead("time_bw_timeline", "bandwidth()")
    xfer_size_timeline = _instead("xfer_size_timeline", "sizes()")
    create_event_timeline = _instead("create_event_timeline", "timeline()")
