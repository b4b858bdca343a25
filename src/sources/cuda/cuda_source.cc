// SPDX-License-Identifier: MIT
// The host half of `cuda`: what it gives. The recording happens inside the program, which brings
// the driver.
#include "sources/library.h"
#include "sources/source.h"

namespace fathom::sources::cuda {
namespace {

constexpr std::string_view kLayers[] = {"cuda"};

}  // namespace

extern const SourceDef kSource;
const SourceDef kSource = {
    .name = "cuda",
    .layers = kLayers,
    .help = "calls of the CUDA driver: launches, copies, memory, waiting",
    .in_process = true,
    .driver = "libcuda.so.1",
    .probe = probe_library,
    .make = nullptr,
};

}  // namespace fathom::sources::cuda
