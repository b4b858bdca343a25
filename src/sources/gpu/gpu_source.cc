// SPDX-License-Identifier: MIT
// The host half of `gpu`: what it gives. The recording happens inside the program, by CUPTI where
// there is one.
#include "sources/library.h"
#include "sources/source.h"

namespace fathom::sources::gpu {
namespace {

constexpr std::string_view kLayers[] = {"gpu"};

}  // namespace

extern const SourceDef kSource;
const SourceDef kSource = {
    .name = "gpu",
    .layers = kLayers,
    .help =
        "times of the GPU itself: kernels, copies, graphs, waiting; by CUPTI, which brings "
        "threads and memory of its own into the program",
    .in_process = true,
    .needs = "cuda",
    .driver = "libcuda.so.1",
    .probe = probe_library,
    .make = nullptr,
};

}  // namespace fathom::sources::gpu
