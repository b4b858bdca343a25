# SPDX-License-Identifier: MIT
"""DFTracer's Python package, on top of Fathom: programs that were annotated for DFTracer run unchanged.

`dftracer.logger` is what version 1 offers, `dftracer.python` what version 2 does, `dftracer.dftracer` the native module
of both. Which one a program imports decides in which layout its files are written. docs/dftracer.md has the rest.
"""

from __future__ import annotations

import sys

from fathom._places import folders, own_folder

# The native module is built for one Python.
__path__ += [*(f"{folder}/dftracer" for folder in folders()), *own_folder("dftracer")]
# Distributions of others have parts here: dftracer-utils is `dftracer.utils`, dftracer-analyzer `dftracer.analyzer`.
__path__ += [f"{folder or '.'}/dftracer" for folder in sys.path if f"{folder or '.'}/dftracer" not in __path__]


def __getattr__(name: str) -> str:  # asking for it takes longer than all else here
    if name == "__version__":
        from dftracer._version import version

        return version
    raise AttributeError(f"module 'dftracer' has no attribute '{name}'")
