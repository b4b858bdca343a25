// SPDX-License-Identifier: MIT
// How users name a recording that is kept elsewhere:
//
//   http://HOST[:PORT][/PREFIX]/recordings/NAME   on that server; https likewise
//   recording:NAME                                where commands find their jobs (find_store.h)
//
// "/api/v1/recordings/NAME", as the API has it, and "/NAME" alone are understood, too.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::fleet {

inline constexpr std::string_view kFarScheme = "recording:";

struct FarWord {
  std::string server;  // "": the one that commands find by themselves
  std::string name;
};

[[nodiscard]] bool is_far_word(std::string_view word);

// kUsage where it names no recording; the hint shows how one is named.
Result<FarWord> parse_far_word(std::string_view word);

}  // namespace fathom::fleet
