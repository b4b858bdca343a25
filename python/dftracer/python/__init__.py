# SPDX-License-Identifier: MIT
"""DFTracer 2.x: `from dftracer.python import dftracer, dft_fn, ai`."""

from __future__ import annotations

from dftracer.python.ai import *  # noqa: F403
from dftracer.python.dynamo import *  # noqa: F403
from dftracer.python.logger import *  # noqa: F403

_MODULES = ("annotations", "ai_common", "ai_init", "common", "env")
__all__ = [name for name in dir() if not name.startswith("_") and name not in _MODULES]


def __getattr__(name: str) -> str:  # asking for it takes longer than all else here
    if name == "__version__":
        from dftracer.python._version import version

        return version
    raise AttributeError(f"module 'dftracer.python' has no attribute '{name}'")
