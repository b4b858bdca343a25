# SPDX-License-Identifier: MIT
"""A virtual machine with another kernel: boots from memory, does what a script says, prints what it prints, ends."""

import gzip
import lzma
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from kit import Failure, Skipped

KERNELS = Path(__file__).resolve().parent.parent.parent / ".cache" / "kernels"
TIMEOUT_S = 600
BEGIN, END = "=== begin ===", "=== end ==="

# Of each architecture: the emulator, its options, the console.
EMULATORS = {
    "x86_64": ("qemu-system-x86_64", ("-M", "pc", "-cpu", "max"), "ttyS0"),
    "aarch64": ("qemu-system-aarch64", ("-M", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on"), "ttyAMA0"),
}

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
for module in /modules/*; do insmod $module; done
ulimit -l unlimited
cd /tmp
echo "{begin}"
sh /script 2>&1
echo "{end}"
poweroff -f
"""


def kernels() -> list[Path]:
    """Those that tools/fetch_kernels.sh left here."""
    found = sorted(KERNELS.glob("*/boot/vmlinuz-*"))
    if not found:
        raise Skipped("no kernel for a virtual machine is here: tools/fetch_kernels.sh")
    return found


def module_of(kernel: Path, name: str) -> bytes:
    """A module of a kernel, which may be compressed."""
    modules = kernel.parent.parent / "lib" / "modules"
    pattern = name.replace("_", "[-_]")  # a file may be named otherwise than the module
    found = next(modules.rglob(f"{pattern}.ko*"), None)
    if found is None:
        raise Failure(f"{kernel.name} has no module {name}")
    content = found.read_bytes()
    return lzma.decompress(content) if found.suffix == ".xz" else content


def with_needs(kernel: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """Modules and those that they need, in the order in which a kernel takes them."""
    found: dict[str, bytes] = {}
    for name in names:
        content = module_of(kernel, name)
        needs = re.search(rb"\0depends=([^\0]+)\0", content)
        found |= with_needs(kernel, tuple(needs[1].decode().split(","))) if needs else {}
        found.setdefault(name, content)
    return found


def libraries_of(program: Path) -> Iterator[Path]:
    for line in subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout.splitlines():
        yield from (Path(word) for word in line.split() if word.startswith("/"))


def entry(name: str, mode: int, content: bytes, number: int) -> bytes:
    """One file of an archive as the kernel takes it (cpio, newc)."""
    path = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
    return head.ljust(-(-len(head) // 4) * 4, b"\0") + content.ljust(-(-len(content) // 4) * 4, b"\0")


def archive(files: dict[str, Path | str | bytes]) -> bytes:
    """Files by their place; a text is a script."""
    folders = {str(parent)[1:] for name in files for parent in Path("/" + name).parents if str(parent) != "/"}
    folders |= {"proc", "sys", "dev", "tmp", "mnt", "modules"}
    parts = [entry(folder, 0o40755, b"", 1) for folder in sorted(folders)]
    for number, (name, source) in enumerate(files.items(), 2):
        content = source.encode() if isinstance(source, str) else source
        content = content.read_bytes() if isinstance(content, Path) else content
        parts.append(entry(name, 0o100755, content, number))
    return gzip.compress(b"".join([*parts, entry("TRAILER!!!", 0, b"", 0)]), 1)


def run_in_machine(
    kernel: Path, script: str, programs: dict[str, Path], folder: Path, modules: tuple[str, ...] = ()
) -> str:
    """What the script printed. Programs come with their libraries."""
    emulator, options, console = EMULATORS.get(platform.machine(), ("", (), ""))
    busybox = shutil.which("busybox")
    if not emulator or not shutil.which(emulator) or not busybox:
        raise Skipped(f"no {emulator or 'emulator'} or no busybox (apt: qemu-system-x86 or -arm, busybox-static)")
    files: dict[str, Path | str | bytes] = {"init": INIT.format(begin=BEGIN, end=END), "script": script}
    needed = with_needs(kernel, modules)
    files |= {f"modules/{place:02}-{name}.ko": content for place, (name, content) in enumerate(needed.items())}
    for name, program in {"bin/busybox": Path(busybox), **programs}.items():
        files[name] = program
        files |= {str(library)[1:]: library for library in libraries_of(program)}
    image = folder / "initrd"
    image.write_bytes(archive(files))
    machine = (emulator, *options, "-accel", "tcg,thread=single", "-smp", "2", "-m", "2048", "-nic", "none")
    words = f"console={console} quiet panic=-1 no_timer_check"  # a busy machine is late with timers
    boot = ("-kernel", str(kernel), "-initrd", str(image), "-append", words)
    command = [*machine, "-display", "none", "-serial", "stdio", "-no-reboot", *boot]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)
    text = done.stdout.decode(errors="replace").replace("\r", "")
    if BEGIN not in text or END not in text:
        raise Failure(f"{kernel.name} did not run to its end: {text[-2000:]}{os.linesep}{done.stderr.decode()}")
    return text.split(BEGIN, 1)[1].split(END, 1)[0]
