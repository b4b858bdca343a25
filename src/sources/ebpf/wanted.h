// SPDX-License-Identifier: MIT
// What a user means by the name of a function: that name as the file has it, as a C++ programmer
// wrote it, or a regular expression.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::sources::ebpf {

// Takes names as files have them.
using Wanted = std::function<bool(const std::string& name)>;

// A name or a regular expression: which of the two is not known before there are names to compare.
struct Pattern {
  std::string text;
  Wanted literally;             // "outer", "outer(int)", "ns::outer" or "_Z5outeri"
  std::optional<Wanted> regex;  // where the text is not a plain name, and nothing has it literally

  [[nodiscard]] bool fits(const std::string& name) const {
    return literally(name) || (regex && (*regex)(name));
  }
};

// kUsage where it can be neither a name, perhaps with its parameters, nor a regular expression.
Result<Pattern> read_pattern(const std::string& text);

// Places of those that are wanted, in order; literal ones where there are any.
std::vector<std::size_t> find_wanted(const Pattern& pattern, const std::vector<std::string>& names);

// Without parameters, result and arguments of templates: "ns::outer" of "int ns::outer<char>(int)".
std::string plain_name(std::string_view demangled);

// "did you mean …?" by the names that there are; "" where none is near.
std::string did_you_mean_of(const std::string& text, const std::vector<std::string>& names);

}  // namespace fathom::sources::ebpf
