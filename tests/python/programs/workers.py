# SPDX-License-Identifier: MIT
"""Loops in threads and in workers of both kinds; test_loops.py knows how often they turn."""

import multiprocessing
import threading


def work(turns):
    for _ in range(turns):
        pass


def main():
    threads = [threading.Thread(target=work, args=(1000,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            pool.map(work, [100] * 10)


if __name__ == "__main__":
    main()
