// SPDX-License-Identifier: MIT
// Real recordings of each layer, made once by the build: of programs/, and of the driver without a GPU (tests/cuda).
import { existsSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { fathom, folder, ran } from "./real.mjs";

const top = fileURLToPath(new URL("../../", import.meta.url));
const own = join(top, "tests/page/programs");
const cuda = join(top, "tests/cuda");

const kernelLayers = ["syscall", "sched", "vfs", "fs", "pagecache", "block", "net"];
const all = kernelLayers.join();

function compiled(name, words) {
  const target = join(folder, name);
  if (existsSync(target)) return target;
  mkdirSync(join(target, ".."), { recursive: true });
  ran([...words, "-o", target]);
  return target;
}

function program() {
  return compiled("layers", ["cc", "-O1", "-g", `-I${top}include`, join(own, "layers.c")]);
}

function recorded(name, options, command, env = {}) {
  const path = join(folder, `${name}.fathom`);
  if (!existsSync(path)) ran([fathom, "run", "-q", ...options, "-o", path, "--", ...command()], folder, env);
  return path;
}

const ofProgram = (name, options) => () => recorded(name, options(), () => [program(), join(folder, `${name}.data`)]);

function withDriver() {
  const library = (name, source) => {
    const soname = name.split("/").at(-1);
    const flags = ["-std=c++20", "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", `-I${top}src`, join(cuda, source)];
    return compiled(name, ["c++", ...flags, "-Wl,-Bsymbolic", `-Wl,-soname,${soname}`, "-ldl"]);
  };
  const libraries = [
    library("driver/libcuda.so.1", "fake_driver.cc"),
    library("cupti/libcupti.so.13", "fake_cupti.cc"),
  ];
  const paths = libraries.map((path) => join(path, "..")).join(":");
  const command = () => {
    const binary = compiled("cuda-program", ["cc", "-O1", "-pthread", join(cuda, "program.c"), "-ldl"]);
    return [binary, "resolver", "work", "8"];
  };
  return recorded("gpu", ["--layers", "cuda,gpu"], command, { LD_LIBRARY_PATH: paths });
}

function python() {
  const options = ["--layers", "python", "--python-modules", "__main__", "--python-loops", "__main__"];
  return recorded("python", options, () => ["python3", join(own, "turns.py")]);
}

// By name: the layers that each has, and its path.
export const recordings = {
  inside: [["app", "posix", "stdio"], ofProgram("inside", () => ["--layers", "app,posix,stdio,resource"])],
  python: [["python"], python],
  heap: [["heap"], ofProgram("heap", () => ["--layers", "heap"])],
  cpu: [["cpu"], ofProgram("cpu", () => ["--layers", "cpu"])],
  user: [["user"], ofProgram("user", () => ["--layers", "user", "--functions", `${program()}:compute`])],
  kernel: [kernelLayers, ofProgram("kernel", () => ["--layers", all, "--detail", all])],
  gpu: [["cuda", "gpu"], withDriver],
};
