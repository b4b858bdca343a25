# SPDX-License-Identifier: MIT
"""Fathom for Spack 1.0 or newer, from a clone.

Spack has no recipes for protozero and libbpf: the system has to have them (Debian: libprotozero-dev, libbpf-dev).
DuckDB is the library that Fathom is tested with; the page is made with packages of npm. In the clone:
  tools/fetch_duckdb.sh
  tools/fetch_web.sh
  spack repo add packaging/spack/spack_repo/fathom
  spack dev-build fathom@main
"""

from spack.package import depends_on, license, maintainers, variant, version
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator


class Fathom(CMakePackage):
    """Shows where the time of a program goes, from its functions down to the disk and the GPU."""

    maintainers()
    license("MIT")
    version("main")

    variant("bpf", default=True, description="Layers of the kernel; needs a clang that compiles for BPF")

    variant("fleet", default=True, description="Server, jobs and agents")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("cli11@2:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("fmt@9:")
    depends_on("simdjson@3:")
    depends_on("yaml-cpp@0.7:")
    depends_on("elfutils@0.188:")
    depends_on("xz")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("boost@1.81:", when="+fleet")
    depends_on("openssl@3:", when="+fleet")
    depends_on("sqlite@3.40:", when="+fleet")
    depends_on("llvm+clang targets=bpf", type="build", when="+bpf")

    def cmake_args(self) -> list:
        return [
            self.define("FATHOM_TESTS", False),
            self.define("FATHOM_PYTHON", self.spec["python"].command.path),
            self.define_from_variant("FATHOM_BPF", "bpf"),
            self.define_from_variant("FATHOM_FLEET", "fleet"),
        ]
