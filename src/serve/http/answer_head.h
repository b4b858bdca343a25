// SPDX-License-Identifier: MIT
// The bytes before the body of an answer, and around the pieces of one without an end.
#pragma once

#include <string>
#include <string_view>

#include "serve/http/http.h"

namespace fathom::serve {

[[nodiscard]] std::string answer_head(const Response& response, bool is_stream);
[[nodiscard]] std::string as_chunk(std::string_view text);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace fathom::serve
