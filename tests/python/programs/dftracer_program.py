# SPDX-License-Identifier: MIT
# ruff: noqa: PTH102, PTH104, PTH106, PTH123
"""dftracer_program GENERATION [HOW]: decorators, blocks, loops and I/O as DFTracer's users write them; HOW it ends."""

import os
import signal
import sys
import time
from multiprocessing import get_context

if sys.argv[1] == "1":
    from dftracer.logger import dft_fn, dftracer
else:
    from dftracer.python import dft_fn, dftracer

log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
train = dft_fn("TRAIN")
loop = dft_fn("LOOP", name="loop")
data = os.environ["DFTRACER_DATA_DIR"]


@train.log
def step(index):
    with dft_fn("IO", name="load", step=index):
        with open(f"{data}/file{index}", "wb") as file:
            file.write(b"x" * 100)
        descriptor = os.open(f"{data}/file{index}", os.O_RDONLY)
        os.pread(descriptor, 10, 5)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.read(descriptor, 100)
        os.close(descriptor)
    return index


class Model:
    @train.log_init
    def __init__(self, size):
        self.size = size

    @train.log
    def forward(self):
        os.mkdir(f"{data}/{self.size}")
        os.rename(f"{data}/{self.size}", f"{data}/{self.size}.moved")
        os.rmdir(f"{data}/{self.size}.moved")
        return self.size

    @staticmethod
    @train.log_static
    def static():
        return 1


def worker(index):
    step(index)


def end(how):
    print("done", flush=True)
    if how == "return":
        return
    if how == "_exit":
        os._exit(3)
    if how == "waits":
        time.sleep(60)
    os.kill(os.getpid(), getattr(signal, how))


def main():
    how = sys.argv[2] if len(sys.argv) > 2 else "finalize"
    for index in range(5):
        step(index)
    assert Model(3).forward() == 3 and Model.static() == 1
    assert list(loop.iter(range(4))) == [0, 1, 2, 3]
    if how in ("fork", "spawn", "forkserver"):
        with get_context(how).Pool(2) as pool:
            pool.map(worker, range(10, 30))
    if how in ("finalize", "fork", "spawn", "forkserver"):
        log.finalize()
        print("done", flush=True)
    else:
        end(how)


if __name__ == "__main__":
    main()
