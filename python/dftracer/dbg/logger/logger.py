# SPDX-License-Identifier: MIT
"""DFTracer's build with more words: here the same."""

from dftracer.logger.logger import *  # noqa: F403
