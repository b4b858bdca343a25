// SPDX-License-Identifier: MIT
// Names come from the network and become keys of stores, parts of paths and words of commands, so
// few characters may occur. One rule for all kinds of names, in one place.
#include "fleet/model.h"

#include <algorithm>
#include <cstddef>

namespace fathom::fleet {
namespace {

constexpr std::size_t kLongestName = 64;

// Not isalnum(), which asks the locale.
bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

bool is_job_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || !is_alphanumeric(name.front())) return false;
  return std::ranges::all_of(
      name, [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

}  // namespace fathom::fleet
