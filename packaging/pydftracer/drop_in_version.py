# SPDX-License-Identifier: MIT
"""Which version of `pydftracer` the distribution stands for: scikit-build-core and tools/wheel.py ask.

For what requires exactly an older one: FATHOM_PYDFTRACER=1.0.2 pip install . ./packaging/pydftracer
"""

from __future__ import annotations

import os
import re
from typing import Any, Mapping

OURS = "fathom.0.1.0"  # the local part, which a requirement without one does not look at


def dynamic_metadata(field: str, settings: Mapping[str, Any]) -> str:
    assert field == "version"
    public = os.environ.get("FATHOM_PYDFTRACER") or str(settings["newest"])
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)*", public):
        raise ValueError(f"FATHOM_PYDFTRACER={public} is no version such as 1.0.2")
    return f"{public}+{OURS}"
