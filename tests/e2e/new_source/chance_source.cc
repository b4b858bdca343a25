// SPDX-License-Identifier: MIT
// The host half of `chance`: what it gives. The recording happens inside the program.
#include "sources/library.h"
#include "sources/source.h"

namespace fathom::sources::chance {
namespace {

constexpr std::string_view kLayers[] = {"chance"};

}  // namespace

extern const SourceDef kSource;
const SourceDef kSource = {
    .name = "chance",
    .layers = kLayers,
    .help = "numbers that the program draws",
    .in_process = true,
    .probe = probe_library,
    .make = nullptr,
};

}  // namespace fathom::sources::chance
