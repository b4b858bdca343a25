// SPDX-License-Identifier: MIT
// The host half of `heap`: what it gives. The counting happens inside the program.
#include "sources/library.h"
#include "sources/source.h"

namespace fathom::sources::heap {
namespace {

constexpr std::string_view kLayers[] = {kHeapLayer};

}  // namespace

extern const SourceDef kSource;
const SourceDef kSource = {
    .name = "heap",
    .layers = kLayers,
    .help = "calls of malloc, free and their kin, added up",
    .in_process = true,
    .probe = probe_library,
    .make = nullptr,
};

}  // namespace fathom::sources::heap
