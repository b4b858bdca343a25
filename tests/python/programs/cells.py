# SPDX-License-Identifier: MIT
"""cells DIR: `%%fathom` in a shell of IPython; prints what its tables say."""

import json
import sys

from IPython.core.interactiveshell import InteractiveShell

FIRST = """
def part(number):
    return number * number
def work(count):
    return sum(part(number) for number in range(count))
total = work(100)
"""


def told(answer):
    return {row["name"]: row["calls"] for row in answer.dicts() if row["module"] == "__main__"}


shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "fathom")
first = told(shell.run_cell_magic("fathom", f"-o {sys.argv[1]}", FIRST))
shell.run_cell("work(50);")  # not traced
second = told(shell.run_cell_magic("fathom", "--top 50", "work(10);"))
print(json.dumps([shell.user_ns["total"], first, second]))
