// SPDX-License-Identifier: MIT
// The host half of `python`: what it gives. The recording happens inside the program, by
// libfathom.so and the extension that lies beside it, one for each version of Python.
#include "sources/library.h"
#include "sources/source.h"

namespace fathom::sources::python {
namespace {

constexpr std::string_view kLayers[] = {"python"};

}  // namespace

extern const SourceDef kSource;
const SourceDef kSource = {
    .name = "python",
    .layers = kLayers,
    .help = "functions of Python, with no change to the program",
    .in_process = true,
    .probe = probe_library,
    .make = nullptr,
};

}  // namespace fathom::sources::python
