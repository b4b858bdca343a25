// SPDX-License-Identifier: MIT
// Which function the driver gives for a name, a version and flags, as the H200's driver of CUDA 13
// does it: the newest variant that the version knows, and its per-thread twin where the caller asks
// for that.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace fake {

struct Variant {
  const char* name;
  const char* suffix;
  int since;
};
// Where several variants exist: the version from which each is meant. Others are what they are
// called.
inline constexpr Variant kVariants[] = {
    {"cuCtxCreate", "_v2", 3020},
    {"cuCtxCreate", "_v3", 11040},
    {"cuCtxCreate", "_v4", 12050},
    {"cuCtxDestroy", "_v2", 4000},
    {"cuCtxPushCurrent", "_v2", 4000},
    {"cuCtxPopCurrent", "_v2", 4000},
    {"cuCtxSynchronize", "_v2", 13000},
    {"cuDevicePrimaryCtxRelease", "_v2", 11000},
    {"cuDevicePrimaryCtxReset", "_v2", 11000},
    {"cuMemAlloc", "_v2", 3020},
    {"cuMemAllocPitch", "_v2", 3020},
    {"cuMemFree", "_v2", 3020},
    {"cuMemAllocHost", "_v2", 3020},
    {"cuMemHostRegister", "_v2", 6050},
    {"cuMemGetInfo", "_v2", 3020},
    {"cuArrayCreate", "_v2", 3020},
    {"cuArray3DCreate", "_v2", 3020},
    {"cuMemcpyHtoD", "_v2", 3020},
    {"cuMemcpyDtoH", "_v2", 3020},
    {"cuMemcpyDtoD", "_v2", 3020},
    {"cuMemcpyHtoDAsync", "_v2", 3020},
    {"cuMemcpyDtoHAsync", "_v2", 3020},
    {"cuMemcpyDtoDAsync", "_v2", 3020},
    {"cuMemcpyDtoA", "_v2", 3020},
    {"cuMemcpyAtoD", "_v2", 3020},
    {"cuMemcpyHtoA", "_v2", 3020},
    {"cuMemcpyAtoH", "_v2", 3020},
    {"cuMemcpyAtoA", "_v2", 3020},
    {"cuMemcpyHtoAAsync", "_v2", 3020},
    {"cuMemcpyAtoHAsync", "_v2", 3020},
    {"cuMemcpy2D", "_v2", 3020},
    {"cuMemcpy2DUnaligned", "_v2", 3020},
    {"cuMemcpy2DAsync", "_v2", 3020},
    {"cuMemcpy3D", "_v2", 3020},
    {"cuMemcpy3DAsync", "_v2", 3020},
    {"cuMemcpyBatchAsync", "_v2", 13000},
    {"cuMemcpy3DBatchAsync", "_v2", 13000},
    {"cuMemPrefetchAsync", "_v2", 12020},
    {"cuMemsetD8", "_v2", 3020},
    {"cuMemsetD16", "_v2", 3020},
    {"cuMemsetD32", "_v2", 3020},
    {"cuMemsetD2D8", "_v2", 3020},
    {"cuMemsetD2D16", "_v2", 3020},
    {"cuMemsetD2D32", "_v2", 3020},
    {"cuStreamDestroy", "_v2", 4000},
    {"cuEventDestroy", "_v2", 4000},
    {"cuStreamWaitValue32", "_v2", 11070},
    {"cuStreamWaitValue64", "_v2", 11070},
    {"cuStreamWriteValue32", "_v2", 11070},
    {"cuStreamWriteValue64", "_v2", 11070},
    {"cuStreamBatchMemOp", "_v2", 11070},
    {"cuStreamBeginCapture", "_v2", 10010},
    {"cuGraphInstantiate", "_v2", 11000},
    {"cuGraphInstantiate", "WithFlags", 12000},
    {"cuGraphExecUpdate", "_v2", 12000},
    {"cuLinkCreate", "_v2", 6050},
    {"cuLinkAddData", "_v2", 6050},
    {"cuLinkAddFile", "_v2", 6050},
    {"cuGetProcAddress", "_v2", 12000},
};

inline void* exported(const std::string& symbol) {
  static void* const self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&kVariants), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return dlsym(self, symbol.c_str());
}

inline int resolve(const char* name, void** function, int version, std::uint64_t flags,
                   int* status) {
  constexpr std::uint64_t kPerThread = 2;
  constexpr int kInvalidValue = 1;
  if (name == nullptr || function == nullptr) return kInvalidValue;
  std::string symbol = name;
  for (const Variant& variant : kVariants) {
    if (symbol.starts_with(name) && std::string(name) == variant.name && version >= variant.since)
      symbol = std::string(name) + variant.suffix;
  }
  *function = nullptr;
  if (flags == kPerThread) {
    for (const char* twin : {"_ptsz", "_ptds"}) {
      if (*function == nullptr) *function = exported(symbol + twin);
    }
  }
  if (*function == nullptr) *function = exported(symbol);
  if (status != nullptr) *status = *function != nullptr ? 0 : 1;
  return 0;  // the status says it, and NULL does
}

}  // namespace fake
