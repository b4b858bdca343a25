# SPDX-License-Identifier: MIT
"""DFAnalyzer's graphs are not here."""

raise ImportError("dfanalyzer.graph is not here; which process used which file: fathom report NAME files --by pid")
