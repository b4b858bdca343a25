// SPDX-License-Identifier: MIT
// What will be asked of sources in a moment, so that those that take long can begin.
#pragma once

#include <span>
#include <string_view>

namespace fathom::sources {

// probe_layer() will be called for these: sources begin with all of them at once.
void expect_layers(std::span<const std::string_view> layers);

}  // namespace fathom::sources
