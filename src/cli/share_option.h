// SPDX-License-Identifier: MIT
// --share GROUP, of every command that makes a recording.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/private_files.h"
#include "base/result.h"
#include "cli/parser.h"

namespace fathom::cli {

inline void declare_share(Parser& parser, std::string& group) {
  parser.option("--share", group, "GROUP", "let this group read the recording (default: only you)");
}

// After parse().
inline Result<std::optional<gid_t>> shared_group(const Parser& parser, const std::string& name) {
  if (!parser.given("--share")) return std::optional<gid_t>();
  Result<gid_t> group = find_own_group(name);
  if (!group) return usage_error("--share: " + group.error().message, group.error().hint);
  return std::optional<gid_t>(*group);
}

}  // namespace fathom::cli
