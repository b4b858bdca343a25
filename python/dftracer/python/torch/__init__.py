# SPDX-License-Identifier: MIT
"""What torch.profiler saw, as events: `torch.profiler.profile(on_trace_ready=trace_handler)`."""

from dftracer.python.torch.common import *  # noqa: F403
