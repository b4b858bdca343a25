// SPDX-License-Identifier: MIT
// Which bytes of a file a header `Range` asks for.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom::serve {

struct ByteRange {
  enum class Kind { kWhole, kPart, kBeyond };
  Kind kind = Kind::kWhole;
  std::uint64_t first = 0;
  std::uint64_t size = 0;
};

// "bytes=0-99", "bytes=100-", "bytes=-100". Several ranges, or another word, ask for the whole
// file, as RFC 9110 lets a server choose.
[[nodiscard]] ByteRange parse_range(std::string_view header, std::uint64_t size);

}  // namespace fathom::serve
