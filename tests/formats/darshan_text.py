# SPDX-License-Identifier: MIT
"""Prints a log of Darshan as `darshan-parser` does, or with --dxt as `darshan-dxt-parser` does. PyPI has no parsers but
the library that they are made of: each line of a record is printed by the library's own functions.

usage: darshan_text.py [--dxt] LOG
"""

import ctypes
import sys
import sysconfig
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p
from pathlib import Path
from typing import Any


class Module(ctypes.Structure):
    _fields_ = [("name", c_char_p), *((name, c_int) for name in ("size", "version", "index", "partial"))]


class Name(ctypes.Structure):
    _fields_ = [("record", c_uint64), ("name", c_char_p)]


class Functions(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in ("get", "put", "print", "describe", "diff", "sum", "size", "metrics")]


class Job(ctypes.Structure):
    numbers = ("uid", "start", "start_ns", "end", "end_ns", "nprocs", "jobid")
    _fields_ = [*((name, c_int64) for name in numbers), ("metadata", c_char * 4096)]


GET = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p))
PRINT = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_char_p, c_void_p)
DESCRIBE = ctypes.CFUNCTYPE(None, c_int)


def library() -> Any:
    folder = Path(sysconfig.get_path("purelib")) / "darshan.libs"
    lib = ctypes.CDLL(str(next(folder.glob("libdarshan-util*.so*"))))
    lib.darshan_log_open.restype = c_void_p
    return lib


def print_head(lib: Any, log: c_void_p) -> None:
    job, seconds, exe = Job(), c_double(), ctypes.create_string_buffer(4096)
    lib.darshan_log_get_job(log, byref(job))
    lib.darshan_log_get_job_runtime(log, job, byref(seconds))
    lib.darshan_log_get_exe(log, exe)
    print("# darshan log version: 3.41")
    print(f"# exe: {exe.value.decode()}\n# jobid: {job.jobid}\n# start_time: {job.start}\n# end_time: {job.end}")
    print(f"# nprocs: {job.nprocs}\n# run time: {seconds.value:.4f}\n", flush=True)


def print_module(lib: Any, log: c_void_p, module: Module, names: dict) -> None:
    functions = (POINTER(Functions) * (module.index + 1)).in_dll(lib, "mod_logutils")[module.index].contents
    printer = functions.print
    if module.name.startswith(b"DXT_"):
        own = lib.dxt_log_print_posix_file if module.name == b"DXT_POSIX" else lib.dxt_log_print_mpiio_file
        printer = ctypes.cast(own, c_void_p).value
    else:
        DESCRIBE(functions.describe)(module.version)
    while True:
        record = c_void_p()
        if GET(functions.get)(log, byref(record)) < 1:
            break
        name = names.get(ctypes.cast(record, POINTER(c_uint64))[0], b"UNKNOWN")
        PRINT(printer)(record, name, b"/", b"ext4", None)
        lib.darshan_free(record)


def main() -> None:
    lib = library()
    log = c_void_p(lib.darshan_log_open(sys.argv[-1].encode()))
    print_head(lib, log)
    modules, number = POINTER(Module)(), c_int()
    lib.darshan_log_get_modules(log, byref(modules), byref(number))
    table, size = POINTER(Name)(), c_int()
    lib.darshan_log_get_name_records(log, byref(table), byref(size))
    names = {table[i].record: table[i].name for i in range(size.value)}
    for module in modules[: number.value]:
        if module.name.startswith(b"DXT_") == ("--dxt" in sys.argv):
            print_module(lib, log, module, names)
    ctypes.CDLL(None).fflush(None)


if __name__ == "__main__":
    main()
