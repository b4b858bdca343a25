# SPDX-License-Identifier: MIT
"""DFTracer's build with more words: here the same."""

from dftracer.python.torch.common import *  # noqa: F403
