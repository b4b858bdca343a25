# SPDX-License-Identifier: MIT
"""DFTracer's native module with more words: here the same."""

from dftracer.dftracer import *  # noqa: F403
