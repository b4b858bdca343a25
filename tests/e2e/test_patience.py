# SPDX-License-Identifier: MIT
"""These tests' own patience: it is counted in work done, not in seconds, since a busy machine is slow."""

import sys
import time

import kit
from kit import Box, Failure, check, check_true


def test_who_works_is_waited_for_and_who_hangs_is_not(box: Box) -> None:
    before = kit.TIMEOUT_S, kit.IDLE_TICKS
    kit.TIMEOUT_S, kit.IDLE_TICKS = 2, 5
    try:
        works = "import time\nwhile time.process_time() < 3: pass\nprint('done')"
        check("output of one that works", b"done\n", box.run(sys.executable, "-c", works))
        begin = time.monotonic()
        try:
            box.run(sys.executable, "-c", "import time; time.sleep(60)")
        except Failure as failure:
            check_true(f"{failure} names what hangs", "no end, and no work" in str(failure))
        check_true("one that hangs is given up", time.monotonic() - begin < 50)
    finally:
        kit.TIMEOUT_S, kit.IDLE_TICKS = before
