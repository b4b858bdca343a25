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
std::int64_t pfw_time(std::int64_t ns, std::int64_t unit_ns);
inline std::int64_t pfw_us(std::int64_t ns) { return pfw_time(ns, 1000); }

// The number that a text is, as people write it: no sign or zero too many.
std::optional<std::int64_t> whole_number(std::string_view text);
// A number as JSON writes it, with a point or an exponent.
bool is_real_number(std::string_view text);
// Either of them.
std::optional<double> number_of(std::string_view text);

}  // namespace fathom::render
