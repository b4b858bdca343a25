// SPDX-License-Identifier: MIT
// Run, host, process and thread as data, so that views with --by need no branch for each. Made
// tables (tree, overlap) hold all four scopes, and a view takes the rows of one.
#include "analysis/views/scopes.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::analysis {
const std::vector<Scope>& scopes() {
  static const std::vector<Scope> scopes = {{"run", {}},
                                            {"host", {"host"}},
                                            {"process", {"host", "pid"}},
                                            {"thread", {"host", "pid", "tid"}}};
  return scopes;
}

const Scope& scope_of(const std::vector<std::string>& by) {
  std::size_t finest = 0;
  for (std::size_t i = 1; i < scopes().size(); ++i) {
    if (std::ranges::find(by, scopes()[i].keys.back()) != by.end()) finest = i;
  }
  return scopes()[finest];
}

std::string scope_columns_sql(const Scope& scope, std::string_view prefix) {
  std::string text = fmt::format("'{}' AS scope", scope.name);
  for (const std::string& key : scopes().back().keys) {
    const bool has = std::ranges::find(scope.keys, key) != scope.keys.end();
    const char* type = key == "host" ? "VARCHAR" : "INTEGER";
    text += has ? fmt::format(", {}{}", prefix, key)
                : fmt::format(", CAST(NULL AS {}) AS {}", type, key);
  }
  return text;
}

}  // namespace fathom::analysis
