// SPDX-License-Identifier: MIT
// The host half of `stdio`: what it gives. The recording happens inside the program.
#include "sources/library.h"
#include "sources/source.h"

namespace fathom::sources {
namespace {

constexpr std::string_view kLayers[] = {"stdio"};

}  // namespace

extern const SourceDef kStdio;
const SourceDef kStdio = {
    .name = "stdio",
    .layers = kLayers,
    .help = "calls of C stdio",
    .in_process = true,
    .probe = probe_library,
    .make = nullptr,
};

}  // namespace fathom::sources
