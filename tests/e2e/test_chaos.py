# SPDX-License-Identifier: MIT
"""Nothing is lost and nothing counts twice, whatever is killed or cut off (chaos.py); hundreds of rounds by --full."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from kit import Box, Skipped, check, check_true
from test_jobs import free_port

INNER = Path(__file__).with_name("chaos.py")


def can_cut() -> bool:
    """Whether a network namespace can be made, whose loopback is ours to cut."""
    try:
        return subprocess.run(["unshare", "-rn", "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def chaos(box: Box, store: str) -> None:
    if "not in this build" in box.fathom("server", "--help").decode():
        raise Skipped("built without the fleet")
    cuts = can_cut()
    rounds = 300 if os.environ.get("FATHOM_FULL") else 8
    config = {
        "fathom": str(box.kit.fathom),
        "folder": str(box.root),
        "store": store,
        "rounds": rounds,
        "seed": int(os.environ.get("FATHOM_SEED", "1")),
        "cuts": cuts,
        "port": 21_000 if cuts else free_port(),
    }
    words = [sys.executable, str(INNER), json.dumps(config)]
    told = json.loads(box.run(*(["unshare", "-rn"] if cuts else []), *words))
    print(f"{store}: {told['done']}", flush=True)
    check("what went wrong", [], told["problems"])
    check_true(f"batches: {told['done']}", told["done"]["batches"] > 0)


def test_chaos_sqlite(box: Box) -> None:
    """A server with SQLite: it, its agents and the network fail."""
    chaos(box, "sqlite")


def test_chaos_redis(box: Box) -> None:
    """A server on Redis: Redis is killed, too."""
    if shutil.which("redis-server") is None:
        raise Skipped("no redis-server here")
    chaos(box, "redis")
