// SPDX-License-Identifier: MIT
// Where rules of somebody's own lie, for every command alike: the directories of FATHOM_RULES, else
// ~/.config/fathom/rules. A variable that is set replaces the usual place, so that a test or a CI
// run has no rules of its user.
#include <cstdlib>

#include "analysis/insights/insights.h"
#include "base/files.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

std::vector<std::string> standing_directories() {
  std::vector<std::string> found;
  if (const char* named = std::getenv("FATHOM_RULES"); named != nullptr) {
    for (const std::string_view directory : split(named, ':')) {
      if (!directory.empty()) found.emplace_back(directory);
    }
    return found;
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr) return found;
  const std::string usual = join_path(home, ".config/fathom/rules");
  if (is_directory(usual)) found.push_back(usual);
  return found;
}

}  // namespace

Result<std::vector<Rule>> rules_for(const std::vector<std::string>& directories) {
  std::vector<std::string> all = standing_directories();
  all.insert(all.end(), directories.begin(), directories.end());
  return all_rules(all);
}

}  // namespace fathom::analysis
