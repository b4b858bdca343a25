// SPDX-License-Identifier: MIT
// The description of the API, openapi.json, which the build puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace fathom::serve {

struct ApiText {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] std::span<const ApiText> api_texts();

}  // namespace fathom::serve
