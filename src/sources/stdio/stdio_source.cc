// SPDX-License-Identifier: MIT
// The host half of `stdio`: what it gives. The recording happens inside the program.
#include "sources/library.h"
#include "sources/source.h"

namespace fathom::sources::stdio {
namespace {

constexpr std::string_view kLayers[] = {"stdio"};

}  // namespace

extern const SourceDef kSource;
const SourceDef kSource = {
    .name = "stdio",
    .layers = kLayers,
    .help = "calls of C stdio",
    .in_process = true,
    .probe = probe_library,
    .make = nullptr,
};

}  // namespace fathom::sources::stdio
