// SPDX-License-Identifier: MIT
// The layer of an image that profiles its application by itself, wherever it runs:
// `/app/profiler.sh` as entry point, and a Fathom beside it.
#pragma once

#include <string>

#include "base/result.h"
#include "containers/engine.h"

namespace fathom::containers {

// As files below a folder, which must not exist: for `COPY` in a Dockerfile.
Status write_base_layer(const std::string& folder);

// An image with the layer on top of another one, whose entry point it wraps.
Status make_base_image(Engine& engine, const std::string& from, const std::string& name);

}  // namespace fathom::containers
