// SPDX-License-Identifier: MIT
// How DFTracer's formats write what ours has: names as hashes, times in microseconds, numbers that
// came as texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::render {

// Every second byte of the MD5.
std::string pfw_hash(std::string_view text);

// Begin and end are both cut, so that events nest as before.
std::int64_t pfw_us(std::int64_t ns);

// The number that a text is, as people write it: no sign or zero too many.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace fathom::render
