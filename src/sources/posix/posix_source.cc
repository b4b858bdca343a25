// SPDX-License-Identifier: MIT
// The host half of `posix`: what it gives. The recording happens inside the program.
#include "sources/library.h"
#include "sources/source.h"

namespace fathom::sources::posix {
namespace {

constexpr std::string_view kLayers[] = {"posix"};

}  // namespace

extern const SourceDef kSource;
const SourceDef kSource = {
    .name = "posix",
    .layers = kLayers,
    .help = "calls of POSIX I/O, files and processes",
    .in_process = true,
    .probe = probe_library,
    .make = nullptr,
};

}  // namespace fathom::sources::posix
