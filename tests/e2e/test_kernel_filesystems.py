# SPDX-License-Identifier: MIT
"""Layer fs on file systems that this machine may lack: XFS, Btrfs, overlay and NFS in a virtual machine (--full)."""

import json
import shutil
from pathlib import Path

from jobs import may_take
from kit import Box, Skipped, check, check_true
from machine import kernels, run_in_machine

ALONE = "a virtual machine without acceleration is late with everything"
PAGES = 64
SIZE = PAGES * 4096
MODULES = ("loop", "xfs", "btrfs", "overlay", "nfs", "nfsv4", "nfsd")
SYSTEMS = ("ext4", "xfs", "btrfs", "overlay", "nfs")
MAKERS = ("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs")
WORK = f"""
dd if=/dev/zero of=$1 bs=4096 count={PAGES} conv=fsync 2> /dev/null
echo 3 > /proc/sys/vm/drop_caches
dd if=$1 of=/dev/null bs=4096 count={PAGES} 2> /dev/null
dd if=/dev/zero of=$1.direct bs=4096 count={PAGES} oflag=direct 2> /dev/null
dd if=$1.direct of=/dev/null bs=4096 count={PAGES} iflag=direct 2> /dev/null
rm $1 $1.direct
"""
# The server's tables of exports, as its daemons would fill them: one client, one export, which is the root of all.
SERVER = r"""
ifconfig lo up
mkdir -p /mnt/ext4/export
mount -t nfsd nfsd /proc/fs/nfsd
echo "nfsd 127.0.0.1 4000000000 here" > /proc/net/rpc/auth.unix.ip/channel
echo "here /mnt/ext4/export 4000000000 9218 65534 65534 0" > /proc/net/rpc/nfsd.export/channel
echo 'here 1 \x00000000 4000000000 /mnt/ext4/export' > /proc/net/rpc/nfsd.fh/channel
echo 10 > /proc/fs/nfsd/nfsv4gracetime
for version in -2 -3 +4 +4.1; do echo $version > /proc/fs/nfsd/versions; done 2> /dev/null
echo 2 > /proc/fs/nfsd/threads && echo Y > /proc/fs/nfsd/v4_end_grace
"""
COUNTED = """
SELECT name, file, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(errors) AS BIGINT) AS errors,
       CAST(sum(bytes) AS BIGINT) AS bytes, CAST(sum(dur) AS BIGINT) AS dur, min(dur_min) AS least
FROM intervals WHERE layer = 'fs' GROUP BY ALL
UNION ALL SELECT 'lost ' || layer, reason, count, 0, 0, 0, 0 FROM losses ORDER BY ALL
"""
SCRIPT = f"""
cd /mnt && mkdir {" ".join(SYSTEMS)} && cd /tmp
number=0
for system in ext4 xfs btrfs; do
  truncate -s 320M $system.img
  mkfs.$system -q $system.img > /dev/null 2>&1
  losetup /dev/loop$number $system.img
  mount -t $system /dev/loop$number /mnt/$system
  number=$((number+1))
done
mkdir /mnt/xfs/lower /mnt/xfs/upper /mnt/xfs/work
mount -t overlay -o lowerdir=/mnt/xfs/lower,upperdir=/mnt/xfs/upper,workdir=/mnt/xfs/work overlay /mnt/overlay
{SERVER}
mount -t nfs4 -o addr=127.0.0.1,clientaddr=127.0.0.1,vers=4.1 127.0.0.1:/ /mnt/nfs
cat > work << 'END'{WORK}END
for system in {" ".join(SYSTEMS)}; do
  fathom run -q --layers fs -o $system.fathom -- sh work /mnt/$system/out
done
for system in {" ".join(SYSTEMS)}; do
  echo "=== part"
  grep -q " /mnt/$system " /proc/mounts && fathom sql $system.fathom "{COUNTED}" --format json || echo "[]"
done
"""


@may_take(600)  # of each kernel some minutes
def test_other_file_systems(box: Box) -> None:
    """Reads, writes and fsync, by file, with bytes and time: through the page cache and by direct I/O."""
    if not box.kit.full:
        raise Skipped("--full boots other kernels in a virtual machine")
    box.not_emulated("it emulates by itself")
    programs = {"bin/fathom": box.kit.fathom, "bin/libduckdb.so": (box.kit.build / "libduckdb.so").resolve()}
    for maker in MAKERS:
        path = shutil.which(maker, path="/usr/sbin:/usr/bin:/sbin:/bin")
        if path is None:
            raise Skipped(f"no {maker} (apt: e2fsprogs, xfsprogs, btrfs-progs)")
        programs[f"bin/{maker}"] = Path(path)
    for kernel in kernels():
        folder = box.root / kernel.name
        folder.mkdir()
        said, *parts = run_in_machine(kernel, SCRIPT, programs, folder, MODULES).split("=== part\n")
        check_true(f"{kernel.name} printed {said[-2000:]}", len(parts) == len(SYSTEMS))
        for system, part in zip(SYSTEMS, parts, strict=True):
            expect_rows(f"{kernel.name}, {system}", system, json.loads(part))


def expect_rows(what: str, system: str, rows: list[dict[str, int | str]]) -> None:
    moved, synced = (PAGES, 0, SIZE), (1, 0, None)
    file = f"/mnt/{system}/out"
    wanted = {("read", file): moved, ("write", file): moved, ("fsync", file): synced}
    wanted |= {(call, f"{file}.direct"): moved for call in ("read", "write")}
    found = {(row["name"], row["file"]): (row["calls"], row["errors"], row["bytes"]) for row in rows}
    check(what, wanted, {key: found.get(key) for key in wanted})  # type: ignore[call-overload]
    for row in rows:
        check_true(f"{what}: {row}", str(row["file"]).startswith("/mnt/") and int(row["least"]) > 0)
    below = {row["file"] for row in rows} - {file, f"{file}.direct"}
    may_be = {f"/mnt/xfs/upper/out{end}" for end in ("", ".direct")} if system == "overlay" else set()
    check_true(f"{what}: other files {below}", below <= may_be)
