# SPDX-License-Identifier: MIT
"""DFTracer's first analyzer, on top of Fathom: `DFAnalyzer(pattern).summary()`. The rest says what to use now."""
