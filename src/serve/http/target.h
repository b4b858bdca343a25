// SPDX-License-Identifier: MIT
// The path and query of a request, cut and decoded. Nothing here touches a file: a part of a path
// is a name to look up, and ".." is one that nobody has.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::serve {

struct Target {
  std::vector<std::string> parts;  // "/a/b%20c" gives {"a", "b c"}
  std::map<std::string, std::string> query;
};

// kInvalid: no path, a % without two hexadecimal digits, or a parameter that stands twice.
Result<Target> parse_target(std::string_view text);

// "a=1&b=x+y", of a URL or a form.
Status parse_query(std::string_view text, std::map<std::string, std::string>& query);

// Whether a path fits a pattern like "/api/v1/jobs/{job}"; what stands for the words in braces is
// put into `places`.
[[nodiscard]] bool matches(std::string_view pattern, const std::vector<std::string>& parts,
                           std::map<std::string, std::string>& places);

}  // namespace fathom::serve
