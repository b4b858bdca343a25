// SPDX-License-Identifier: MIT
// Instructions to begin with: what an image says of itself, and every other key as a comment.
#pragma once

#include <string>

#include "containers/engine.h"

namespace fathom::containers {

[[nodiscard]] std::string init_text(const std::string& image, const ImageFacts& facts);

}  // namespace fathom::containers
