# SPDX-License-Identifier: MIT
"""Which version of `dftracer` this stands for."""

from __future__ import annotations

from fathom._distributions import parts_of, version_of

__all__ = ["version", "version_tuple"]

version = version_of("dftracer", "2.2.0+fathom")
version_tuple = parts_of(version)
