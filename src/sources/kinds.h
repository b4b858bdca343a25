// SPDX-License-Identifier: MIT
// The ranges of kinds that the in-process sources use: 11 bits in all, 0 to 31 are the format's
// own.
#pragma once

namespace fathom::guest {

enum : unsigned {
  kFirstPosixKind = 32,
  kFirstStdioKind = 512,
  kFirstPythonKind = 768,
  kFirstHeapKind = 800,
  kFirstRuntimeKind = 992,
  kFirstCudaKind = 1024,
  kFirstGpuKind = 1984,
};

// What devices do; the kinds of layer gpu, from kFirstGpuKind on.
enum class DeviceKind : unsigned char { kKernel, kCopy, kSet, kGraph, kSync, kKinds };

// Kinds whose name stands in the record, as a site.
struct NamedKind {
  unsigned kind;
  const char* entry;
  const char* fields;
};

enum : unsigned { kPythonFunction = kFirstPythonKind, kPythonLoop, kPythonTurn };

inline constexpr NamedKind kPythonKinds[] = {
    {kPythonFunction, "-", "site"},
    {kPythonLoop, "loop", "site arg:iterations:int"},
    {kPythonTurn, "turn", "site arg:turn:int"},
};

// Copies of CUDA's run-time library, above those of the driver: Alnair's logs have rows for them.
struct RuntimeCopy {
  unsigned kind;
  const char* name;
  const char* entry;
};

inline constexpr RuntimeCopy kRuntimeCopies[] = {
    {kFirstRuntimeKind, "cudaMemcpy", "cudaMemcpy"},
    {kFirstRuntimeKind + 1, "cudaMemcpy", "cudaMemcpy_ptds"},
    {kFirstRuntimeKind + 2, "cudaMemcpyAsync", "cudaMemcpyAsync"},
    {kFirstRuntimeKind + 3, "cudaMemcpyAsync", "cudaMemcpyAsync_ptsz"},
};

}  // namespace fathom::guest
