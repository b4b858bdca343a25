# SPDX-License-Identifier: MIT
"""The names that AI programs share. The tree is the same as that of version 2."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

from dftracer._ai import Node as DFTracerAI  # noqa: F401
from dftracer._names import *  # noqa: F403
from dftracer.logger.logger import DFTRACER_ENABLE, dft_fn, dftracer  # noqa: F401
from dftracer.python.ai_init import *  # noqa: F403

F = TypeVar("F", bound=Callable[..., Any])

_IMPORTED = ("Any", "Callable", "Enum", "TypeVar", "annotations")
__all__ = [name for name in dir() if not name.startswith("_") and name not in _IMPORTED]
