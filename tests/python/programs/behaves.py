# SPDX-License-Identifier: MIT
"""Tells what a program can see of a module with loops; the same, whether its loops are recorded or not.

usage: behaves.py [MODULE …]   modules to import and to follow line by line; none: the one beside it
"""

import gc
import hashlib
import importlib
import inspect
import io
import os
import pickle
import re
import sys
import traceback
import types
import warnings
from pathlib import Path

warnings.simplefilter("error")
NAMES = sys.argv[1:] or ["turns"]
LINES = []


def follow(frame, event, argument):
    if "behaves" in frame.f_code.co_filename or frame.f_code.co_filename.startswith("<frozen"):
        return None
    LINES.append((event, frame.f_code.co_name, frame.f_lineno))
    return follow


def described(module):
    """Of each function: where its lines are, what it is called with, its text."""
    for name, value in sorted(vars(module).items()):
        if not isinstance(value, types.FunctionType) or value.__module__ != module.__name__:
            continue
        code = value.__code__
        print(name, code.co_firstlineno, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)
        text = hashlib.sha256(inspect.getsource(value).encode()).hexdigest()[:8]
        print(re.sub(" at 0x[0-9a-f]+", "", str(inspect.signature(value))), text, value.__doc__)
        print("<" in value.__qualname__ or pickle.loads(pickle.dumps(value)) is value)


def fails(function, *arguments):
    try:
        function(*arguments)
    except Exception:
        text = io.StringIO()
        traceback.print_exc(file=text)
        print(text.getvalue())
    else:
        raise AssertionError(function)


class Refuses:
    def __bool__(self):
        raise ValueError("no truth")

    def __iter__(self):
        yield 1
        raise ValueError("no more")


def loops(what):
    for item in what:
        while item:
            item = what
    return [x / 0 for x in [1, 2]]


for name in NAMES:
    sys.settrace(follow)
    module = importlib.import_module(name)
    sys.settrace(None)
    described(module)
if os.environ.get("LINES_TO"):
    Path(os.environ["LINES_TO"]).write_text("\n".join(map(str, LINES)))
fails(loops, Refuses())
fails(loops, 5)
fails(loops, [0])
fails(loops, [Refuses()])
print(sorted(sys.modules), sys.gettrace(), sys.getprofile(), warnings.filters)
print([type(one).__name__ for one in [*sys.meta_path, *sys.path_hooks]])
print(len([one for one in gc.get_objects() if isinstance(one, types.ModuleType)]))
