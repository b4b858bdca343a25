# SPDX-License-Identifier: MIT
"""DFTracer 1.x: `from dftracer.logger import dftracer, dft_fn`."""

from __future__ import annotations

from dftracer.logger.ai import *  # noqa: F403
from dftracer.logger.logger import *  # noqa: F403
