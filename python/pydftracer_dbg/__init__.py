# SPDX-License-Identifier: MIT
"""The native module of DFTracer 1.x with more words: here the same."""

from pydftracer import *  # noqa: F403
