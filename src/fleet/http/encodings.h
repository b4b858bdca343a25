// SPDX-License-Identifier: MIT
// Text and bytes in the letters that URLs and headers allow.
#pragma once

#include <string>
#include <string_view>

namespace fathom::fleet {

// "a/b c" as one part of a path, as a value in a query or as a field of a form: "a%2Fb%20c".
[[nodiscard]] std::string encode_segment(std::string_view name);

[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace fathom::fleet
