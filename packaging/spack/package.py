# SPDX-License-Identifier: MIT
"""Fathom for Spack, from a clone.

spack repo create R; copy this file to R/packages/fathom/; spack repo add R; spack dev-build fathom@main in the clone.
"""

from pathlib import Path

from spack.package import CMakePackage, depends_on, license, maintainers, run_before, variant, version


class Fathom(CMakePackage):
    """Shows where the time of a program goes, from its functions down to the disk and the GPU."""

    maintainers()
    license("MIT")
    version("main")

    variant("bpf", default=True, description="Layers of the kernel; needs a clang that compiles for BPF")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("cli11@2:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("protozero", type="build")
    depends_on("fmt@9:")
    depends_on("simdjson@3:")
    depends_on("yaml-cpp@0.7:")
    depends_on("elfutils@0.188:")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("duckdb@1.5.5:")
    depends_on("libbpf@1.1:", when="+bpf")
    depends_on("llvm+clang targets=bpf", type="build", when="+bpf")

    @property
    def duckdb_folder(self) -> Path:
        return Path(self.stage.source_path) / ".cache" / "duckdb"

    @run_before("cmake")
    def lay_out_duckdb(self) -> None:
        """As tools/fetch_duckdb.sh lays it out: duckdb.h, and the library in a folder of its architecture."""
        duckdb = self.spec["duckdb"].prefix
        arch = "arm64" if self.spec.satisfies("target=aarch64:") else "x64"
        for link, to in (
            (f"{arch}/libduckdb.so", Path(duckdb.lib) / "libduckdb.so"),
            ("duckdb.h", Path(duckdb.include) / "duckdb.h"),
        ):
            place = self.duckdb_folder / link
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.symlink_to(to)

    def cmake_args(self) -> list:
        return [
            self.define("FATHOM_TESTS", False),
            self.define("FATHOM_PYTHON", self.spec["python"].command.path),
            self.define("FATHOM_DUCKDB_DIR", str(self.duckdb_folder)),
        ]
