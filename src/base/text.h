// SPDX-License-Identifier: MIT
// Text: cutting, joining, quoting, and numbers as people read and write them. UTF-8 is base/utf8.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

// "a,,b" gives {"a", "", "b"}; "" gives {""}. The views point into `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
[[nodiscard]] std::string_view trim(
    std::string_view text);  // without ASCII white space at both ends

// Three significant digits and a unit; what is shown is at most half a digit off.
[[nodiscard]] std::string human_bytes(double bytes);  // "17 B", "1.50 KiB", "23.4 GiB"
[[nodiscard]] std::string human_ns(double ns);  // "17 ns", "1.50 us", "23.4 ms", "61.0 s", "2h 05m"
[[nodiscard]] std::string human_count(double count);  // "17", "1.50 k", "23.4 M"

// A whole decimal number; what else is there is an error.
Result<std::int64_t> parse_int(std::string_view text);
// "4096", "64k", "1.5GiB": powers of 1024 whatever the letter's case, with or without "B" or "iB".
Result<std::uint64_t> parse_bytes(std::string_view text);
// "100ms", "1.5 s", "2m" in ns; a plain number is in seconds.
Result<std::int64_t> parse_duration(std::string_view text);

// A word that a POSIX shell reads as exactly this text; left bare where that is safe.
[[nodiscard]] std::string shell_quote(std::string_view text);
[[nodiscard]] std::string shell_join(const std::vector<std::string>& words);

// One line for a terminal: control characters as \n, \t or \xNN, and what is no UTF-8 as \xNN too.
[[nodiscard]] std::string escape_control(std::string_view bytes);

}  // namespace fathom
