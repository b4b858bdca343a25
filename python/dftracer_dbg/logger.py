# SPDX-License-Identifier: MIT
"""DFTracer 1.x with more words: here the same."""

from dftracer.logger import *  # noqa: F403
