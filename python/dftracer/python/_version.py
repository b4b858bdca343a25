# SPDX-License-Identifier: MIT
"""Which version of `pydftracer` this stands for."""

from __future__ import annotations

from fathom._distributions import parts_of, version_of

__all__ = ["commit_id", "version", "version_tuple"]

version = version_of("pydftracer", "2.0.6+fathom")
version_tuple = parts_of(version)
commit_id = None
