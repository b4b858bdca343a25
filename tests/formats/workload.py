# SPDX-License-Identifier: MIT
"""A program that DFTracer records: STEPS steps, each writes a file and reads it back.

usage: workload.py LOGFILE FOLDER STEPS
"""

import sys
from pathlib import Path

try:
    from dftracer.logger import dft_fn, dftracer
except ImportError:
    from dftracer.python import dft_fn, dftracer


def main() -> None:
    logfile, folder, steps = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    log = dftracer.initialize_log(logfile=logfile, data_dir=str(folder), process_id=-1)
    compute = dft_fn("COMPUTE")

    @compute.log
    def step(number: int) -> None:
        path = folder / f"file-{number}.bin"
        path.write_bytes(b"x" * 4096)
        if len(path.read_bytes()) != 4096:
            raise SystemExit("the file is not what was written")

    for number in range(steps):
        step(number)
    log.finalize()


if __name__ == "__main__":
    main()
