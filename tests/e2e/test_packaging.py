# SPDX-License-Identifier: MIT
"""What is installed works where it is put, and when it was moved since."""

import json
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from kit import Box, Skipped, check, check_true


def need(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise Skipped(f"{program} is not installed")
    return found


def installed(box: Box, prefix: Path) -> Path:
    """The build, installed to a prefix. Its files may not be asked for any more: they are not part of it."""
    if not (box.kit.build / "cmake_install.cmake").exists():
        raise Skipped(f"{box.kit.build} is not a build of CMake's")
    box.run(need("cmake"), "--install", box.kit.build, "--prefix", prefix)
    return prefix


def moved(box: Box) -> Path:
    first = installed(box, box.root / "a prefix with spaces")
    return first.rename(box.root / "moved")


def test_installed_tree_is_moved(box: Box) -> None:
    """From a prefix with spaces in its name to another: programs run, record, and answer."""
    prefix = moved(box)
    fathom = prefix / "bin" / "fathom"
    box.run(fathom, "run", "-q", "-o", box.trace, "--", "ls", prefix)
    check("losses", 0, box.losses())
    rows = json.loads(box.run(fathom, "sql", box.trace, "SELECT count(*) AS n FROM events", "--format", "json"))
    check_true(f"events: {rows}", rows[0]["n"] > 0)
    check_true("a report", b"ls" in box.run(fathom, "report", box.trace))
    tables = json.loads(box.run(fathom, "doctor", "--format", "json"))
    states = {row.get("fact", row.get("layer")): row["state"] for table in tables.values() for row in table}
    found = [states[name] for name in ("library", "duckdb", "posix", "heap")]
    check("doctor", ["ok", "ok", "available", "available"], found)
    for link in [fathom, *(prefix / "lib").glob("*.so")]:
        check_true(f"{link} leads into {prefix}", link.resolve().is_relative_to(prefix.resolve()))
        check_true(f"{link} is relative", not link.readlink().is_absolute())


def test_a_space_in_the_path_is_told(box: Box) -> None:
    """LD_PRELOAD has no way to carry one."""
    prefix = installed(box, box.root / "a prefix")
    box.run(prefix / "bin" / "fathom", "run", "-q", "-o", box.trace, "--", "ls")
    state, reason = box.rows("SELECT state, reason FROM layers WHERE layer = 'posix'")[0]
    check("layer posix", "unavailable", state)
    check_true(f"the reason is told: {reason}", "contains a space or a colon" in reason)


def test_preloaded_by_its_link(box: Box) -> None:
    """PREFIX/lib/libfathom.so, where nobody supervises: the extension for Python is found behind the link."""
    prefix = moved(box)
    variables = {"LD_PRELOAD": str(prefix / "lib" / "libfathom.so"), "FATHOM_OUT": str(box.trace)}
    script = "def deep(): return 1\ndeep()"
    box.run(need("python3"), "-c", script, env=variables | {"FATHOM_LAYERS": "python,posix"})
    if not list((prefix / "lib/fathom/python").glob("_record*.so")):
        raise Skipped("this build has no extension for Python")
    check("calls of the function", 1, box.count("layer = 'python' AND name = 'deep'"))


def test_python_is_added_from_a_prefix(box: Box) -> None:
    """An interpreter that the build did not know: the sources of its extensions are installed, too."""
    prefix = moved(box)
    python = need("python3")
    home = box.dir / "home"
    home.mkdir(mode=0o700)
    variables = {"HOME": str(home), "XDG_DATA_HOME": "", "PYENV_ROOT": os.environ.get("PYENV_ROOT", "")}
    variables["PYENV_ROOT"] = variables["PYENV_ROOT"] or str(Path.home() / ".pyenv")
    asked = box.run(python, "-c", "import sysconfig as s; print(s.get_path('include'))", env=variables)
    if not (Path(asked.decode().strip()) / "Python.h").exists():
        raise Skipped("python3 has no headers here")
    for extension in (prefix / "lib/fathom/python").glob("_record*.so"):
        extension.unlink()
    fathom = prefix / "bin" / "fathom"
    program = (python, "-c", "def deep(): return 1\ndeep()")
    for count in (0, 1):
        box.run(fathom, "run", "-q", "--force", "-o", box.trace, "--layers", "python", "--", *program, env=variables)
        check(f"calls, {count} extensions", count, box.count("layer = 'python' AND name = 'deep'"))
        box.run(fathom, "python", "add", python, env=variables)
    names = sorted(path.name.split(".")[0] for path in (home / ".local/share/fathom").glob("*/*.so"))
    check("what was built", ["_record", "dftracer"], names)


def test_packages_of_cmake(box: Box) -> None:
    """find_package(fathom) and find_package(dftracer) give targets that programs build and run with."""
    prefix = moved(box)
    project = box.dir / "user"
    project.mkdir()
    (project / "main.c").write_text(
        "#include <fathom/fathom.h>\n#include <fathom/query.h>\n#include <stdio.h>\n"
        'int main(void) { FILE* f = fopen("/etc/passwd", "r"); fclose(f); return fathom_recording_open == 0; }\n'
    )
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(user C)\n"
        "find_package(fathom REQUIRED)\nfind_package(dftracer REQUIRED)\n"
        "add_executable(user main.c)\ntarget_link_libraries(user PRIVATE fathom::fathom fathom::query)\n"
        "add_executable(old main.c)\ntarget_link_libraries(old PRIVATE dftracer::dftracer fathom::query)\n"
    )
    box.run(need("cmake"), "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    box.run("cmake", "--build", project / "build")
    box.run(project / "build" / "user")
    box.run(project / "build" / "old")


def test_installed_unit(box: Box) -> None:
    """The unit names the prefix, also one with spaces, and systemd understands it."""
    analyze = need("systemd-analyze")
    for name in ("prefix", "with spaces"):
        prefix = installed(box, box.root / name)
        unit = prefix / "lib/systemd/system/fathom-watch.service"
        begins = [line for line in unit.read_text().splitlines() if line.startswith("ExecStart=")]
        quote = '"' if " " in str(prefix) else ""
        words = f"{quote}{prefix}/bin/fathom{quote} watch --config {quote}{prefix}/etc/fathom/watch.yaml{quote}"
        check("ExecStart", [f"ExecStart={words}"], begins)
        server = unit.with_name("fathom-server.service")
        check_true("the server's unit", f"ExecStart={quote}{prefix}/bin/fathom{quote} server" in server.read_text())
        for one in (unit, server):
            done = subprocess.run([analyze, "verify", one], capture_output=True, text=True, check=False)
            check("what systemd says", (0, ""), (done.returncode, done.stderr))


def test_staged_for_usr(box: Box) -> None:
    """With DESTDIR, as packagers do it: settings in /etc, and those that somebody changed stay."""
    stage = box.root / "stage"
    for _ in range(2):
        box.run(need("cmake"), "--install", box.kit.build, "--prefix", "/usr", env={"DESTDIR": str(stage)})
        settings = stage / "etc/fathom/watch.yaml"
        unit = (stage / "usr/lib/systemd/system/fathom-watch.service").read_text()
        check_true("the unit", "ExecStart=/usr/bin/fathom watch --config /etc/fathom/watch.yaml" in unit)
        if "changed" not in settings.read_text():
            settings.write_text("# changed\n")
    check("settings", "# changed\n", settings.read_text())
    page = stage / "usr/share/man/man1/fathom-run.1"
    check_true("manual pages are installed", page.exists())


TOP = Path(__file__).resolve().parents[2]
STANDING_IN = """
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
const char* old_name(int number);
const char* old_text(int number);
static int differ(const char* a, const char* b) { return a == NULL || b == NULL ? a != b : strcmp(a, b) != 0; }
int main(void) {
  for (int i = -1; i < 200; i++) {
    if (differ(old_name(i), strerrorname_np(i))) printf("%d: %s, not %s\\n", i, old_name(i), strerrorname_np(i));
    if (differ(old_text(i), strerrordesc_np(i))) printf("%d: %s, not %s\\n", i, old_text(i), strerrordesc_np(i));
  }
}
"""


def test_names_of_errors_stand_in(box: Box) -> None:
    """What packages have in the place of newer functions of glibc says what those say."""
    made = Path(str(box.kit.build) + "-package") / "package"
    if not (made / "errno_names.inc").exists():
        raise Skipped("there is no build for packages; ./dev package makes it")
    (box.dir / "main.c").write_text(STANDING_IN)
    renamed = ("-Dstrerrorname_np=old_name", "-Dstrerrordesc_np=old_text")
    box.run("cc", "-D_GNU_SOURCE", f"-I{made}", *renamed, "-c", TOP / "packaging/old_glibc.c", "-o", "old.o")
    box.run("cc", "main.c", "old.o", "-o", "compare")
    check("differences", b"", box.run(box.dir / "compare"))


OLDEST_GLIBC = 31  # 2.31, of Debian 11
MADE_OF_OTHERS = {"stat", "lstat", "fstat", "fstatat"}  # by the headers of an older glibc


def versions_of(library: str, only: str) -> dict[str, set[int]]:
    """The N of GLIBC_2.N under which a file offers names, or asks for them (only: *UND*)."""
    lines = subprocess.run([need("objdump"), "-T", library], check=True, capture_output=True, text=True).stdout
    found: dict[str, set[int]] = {}
    for version, name in re.findall(rf"^.*{only}.*\bGLIBC_2\.(\d+)[.\d]*\)?\s+(\S+)$", lines, re.MULTILINE):
        found.setdefault(name, set()).add(int(version))
    return found


def test_nothing_newer_than_the_oldest_glibc(box: Box) -> None:
    """What glibc 2.31 lacks is in packaging/old_glibc.c; else the packages cannot be linked."""
    fathom = box.kit.build / "fathom"
    linked = subprocess.run([need("ldd"), fathom], check=True, capture_output=True, text=True).stdout
    libc = re.search(r"libc\.so\.6 => (\S+)", linked)
    if libc is None:
        raise Skipped("fathom is not linked with glibc")
    offered = versions_of(libc[1], "")
    new = {name for name in versions_of(str(fathom), r"\*UND\*") if min(offered.get(name, {0})) > OLDEST_GLIBC}
    stands_in = (TOP / "packaging" / "old_glibc.c").read_text()
    missing = sorted(name for name in new - MADE_OF_OTHERS if not re.search(rf"\b{name}\b", stands_in))
    check("functions without a stand-in", [], missing)


def test_check_of_packages(box: Box) -> None:
    """A tree that was linked with this system's libraries is none that starts elsewhere; the check says why."""
    prefix = installed(box, box.root / "prefix")
    process = box.start(TOP / "tools/check_packaged.py", prefix)
    out, _ = box.finish(process, 1)
    check_true(f"libraries are named: {out[-300:]!r}", b"lib/fathom/fathom: needs lib" in out)
    for library in ("libfathom.so", "libduckdb.so", "libpfinterpose.so"):
        check_true(f"nothing is wrong with {library}", f"{library}: " not in out.decode())


def test_wheel(box: Box) -> None:
    """What ./dev package made last, in a fresh environment: annotations are recorded, and recordings asked."""
    wheels = list((TOP / "build-package/out").glob("*.whl"))
    if not wheels:
        raise Skipped("there is no wheel; ./dev package makes it")
    box.run("python3", "-m", "venv", "env")
    python = box.dir / "env/bin/python"
    box.run(python, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", *wheels)
    box.run(python, "-m", "pip", "--disable-pip-version-check", "check")
    (box.dir / "work.py").write_text("import fathom\n@fathom.trace\ndef deep(): pass\ndeep()\n")
    bare = {"PYTHONPATH": "", "FATHOM_BUILD": ""}
    box.run(box.dir / "env/bin/fathom", "run", "-q", "-o", box.trace, "--", python, "work.py", env=bare)
    count = "SELECT count(*) FROM events WHERE name = 'deep'"
    ask = f"import fathom; print(fathom.open({str(box.trace)!r}).sql({count!r}).rows())"
    check("calls", b"[(1,)]\n", box.run(python, "-c", ask, env=bare))


def test_packages_in_clean_roots(box: Box) -> None:
    """./dev package --full: the tarball in Debian 11, the .deb in Debian 12; and the library for questions."""
    if not box.kit.full:
        raise Skipped("takes minutes: tests/run --full")
    need("debootstrap")
    done = subprocess.run([TOP / "dev", "package", "--full"], capture_output=True, text=True, check=False)
    check(f"status ({(done.stdout + done.stderr)[-600:]})", 0, done.returncode)
    check("roots in which it works", 2, done.stdout.count("works: "))
    tarball = next((TOP / "build-package/out").glob("fathom-*.tar.gz"))
    box.run("tar", "-xzf", tarball, "-C", box.dir)
    place = box.dir / tarball.name.removesuffix(".tar.gz")
    box.run(place / "bin/fathom", "run", "-q", "-o", box.trace, "--", "ls")
    ask = f"import fathom; print(fathom.open({str(box.trace)!r}).sql('SELECT 6 * 7 AS n').rows())"
    env = {"PYTHONPATH": str(TOP / "python"), "FATHOM_BUILD": str(place / "lib/fathom")}
    check_true("an answer", b"42" in box.run("python3", "-c", ask, env=env))


def test_packages_of_the_other_architecture(box: Box) -> None:
    """./dev package --full --arch ARCH: cross-compiled, and tried under qemu-user. Manual pages are the same."""
    if not box.kit.full:
        raise Skipped("compiles everything: tests/run --full")
    need("debootstrap")
    cpu = "x86_64" if platform.machine() == "aarch64" else "aarch64"
    command = [TOP / "dev", "package", "--full", "--arch", cpu]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check(f"status ({(done.stdout + done.stderr)[-600:]})", 0, done.returncode)
    check("roots in which it works", 2, done.stdout.count("works: "))
    pages, others = (path / "share/man/man1" for path in (box.kit.build, TOP / f"build-package-{cpu}"))
    for page in pages.glob("*.1"):
        check(f"{page.name}, made by the other program", page.read_text(), (others / page.name).read_text())


def test_lintian_finds_no_error(box: Box) -> None:
    """Debian's own check of the package that ./dev package made last."""
    if not box.kit.full:
        raise Skipped("takes minutes: tests/run --full")
    packages = list((TOP / "build-package/out").glob("*.deb"))
    if not packages:
        raise Skipped("there is no package; ./dev package makes it")
    command = [need("lintian"), "--allow-root", "--display-level", ">=error", packages[0]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check("errors", "", done.stdout)


def test_unknown_architecture(box: Box) -> None:
    process = box.start(TOP / "tools/package.sh", "--arch", "vax")
    _, err = box.finish(process, 2)
    check_true(f"{err!r}", b"no packages are made for 'vax'" in err)
