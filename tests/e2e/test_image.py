# SPDX-License-Identifier: MIT
"""The recipe for a container image, on a Debian 12 that is made here: no registry of images is needed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from jobs import may_take
from kit import Box, Skipped, check, check_true

TOP = Path(__file__).resolve().parents[2]
CERTIFICATES = ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "PIP_CERT")  # variables that name a file of them
SETTINGS = {"/etc/pip.conf": "/etc/pip.conf", "~/.npmrc": "/root/.npmrc"}  # of this machine's pip and npm
STORAGE = '[storage]\ndriver = "vfs"\ngraphroot = "{0}/images"\nrunroot = "{0}/state"\n'


class Builder:
    """buildah with images of its own, which go with the test."""

    def __init__(self, folder: Path) -> None:
        settings = folder / "storage.conf"
        settings.write_text(STORAGE.format(folder))
        self.env = {**os.environ, "CONTAINERS_STORAGE_CONF": str(settings), "BUILDAH_ISOLATION": "chroot"}

    def __call__(self, *words: object) -> str:
        command = ["buildah", *map(str, words)]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        check(f"{' '.join(command)}: {done.stderr[-600:]}", 0, done.returncode)
        return done.stdout.strip()

    def image_of(self, folder: Path, place: str, name: str) -> str:
        container = self("from", "scratch")
        self("add", "-q", container, folder, place)
        self("commit", "-q", "--rm", container, name)
        return name


def clean_debian(folder: Path) -> Path:
    ask = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Component: main"]
    mirror = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.split()[0]
    root = folder / "debian"
    command = ["debootstrap", "--variant=minbase", "bookworm", root, mirror]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check(f"debootstrap: {done.stdout[-600:]}", 0, done.returncode)
    return root


def needed_for_images() -> None:
    for program in ("buildah", "debootstrap"):
        if shutil.which(program) is None:
            raise Skipped(f"{program} is not installed")
    if os.geteuid() != 0:
        raise Skipped("needs root")


def ways_to_packages() -> list[str]:
    """Options that let npm and pip of a build reach what they reach here."""
    options = []
    for name in CERTIFICATES:
        if place := os.environ.get(name):
            options += ["--env", f"{name}={place}", "--volume", f"{place}:{place}:ro"]
    for ours, theirs in SETTINGS.items():
        if Path(ours).expanduser().exists():
            options += ["--volume", f"{Path(ours).expanduser()}:{theirs}:ro"]
    return options


def check_image(buildah: Builder, image: str) -> None:
    config = json.loads(buildah("inspect", "--type", "image", image))["OCIv1"]["config"]
    check("what it starts", (["fathom"], ["doctor"]), (config["Entrypoint"], config["Cmd"]))
    container = buildah("from", image)
    buildah("run", container, "--", "fathom", "run", "-q", "-o", "/tmp/x.fathom", "--", "ls", "/")
    check_true("a report", "posix" in buildah("run", container, "--", "fathom", "report", "/tmp/x.fathom"))
    check_true("doctor", "posix" in buildah("run", container, "--", "fathom", "doctor"))


def test_image_records_and_reports(box: Box) -> None:
    """packaging/Containerfile with the packages that ./dev package made last: nothing is compiled again."""
    if not box.kit.full:
        raise Skipped("takes minutes: tests/run --full")
    needed_for_images()
    packages = TOP / "build-package/out"
    if not list(packages.glob("*.tar.gz")):
        raise Skipped("needs packages; ./dev package makes them")
    buildah = Builder(box.dir)
    base = buildah.image_of(clean_debian(box.dir), "/", "localhost/debian")
    made = buildah.image_of(packages, "/packages", "localhost/packages")
    arguments = ("--build-arg", f"BASE={base}", "--build-arg", f"PACKAGES={made}")
    buildah("build", *arguments, "-f", TOP / "packaging/Containerfile", "-t", "localhost/fathom", TOP / "packaging")
    check_image(buildah, "localhost/fathom")


@may_take(1500)
def test_image_is_compiled_from_a_clone(box: Box) -> None:
    """packaging/Containerfile as a user builds it: all of Fathom is compiled in the image."""
    if not box.kit.full:
        raise Skipped("compiles everything: tests/run --full")
    needed_for_images()
    clone = box.dir / "clone"
    subprocess.run(["git", "clone", "-q", TOP, clone], check=True)
    buildah = Builder(box.dir)
    base = buildah.image_of(clean_debian(box.dir), "/", "localhost/debian")
    arguments = ("--build-arg", f"BASE={base}", "--build-arg", f"BUILD_BASE={base}", *ways_to_packages())
    buildah("build", *arguments, "-f", clone / "packaging/Containerfile", "-t", "localhost/fathom", clone)
    check_image(buildah, "localhost/fathom")
