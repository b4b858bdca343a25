// SPDX-License-Identifier: MIT
// The host half of `annotate`: what it gives. The recording happens inside the program.
#include "sources/library.h"
#include "sources/source.h"

namespace fathom::sources::annotate {
namespace {

constexpr std::string_view kLayers[] = {"app"};

}  // namespace

extern const SourceDef kSource;
const SourceDef kSource = {
    .name = "annotate",
    .layers = kLayers,
    .help = "annotations made with fathom.h, and functions compiled with -finstrument-functions",
    .in_process = true,
    .probe = probe_library,
    .make = nullptr,
};

}  // namespace fathom::sources::annotate
