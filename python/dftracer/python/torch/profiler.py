# SPDX-License-Identifier: MIT
"""What torch.profiler saw, as events."""

from dftracer.python.torch.common import *  # noqa: F403
