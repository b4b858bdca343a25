// SPDX-License-Identifier: MIT
// Rules asked of a recording. A rule that finds nothing, or too little, says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/insights/rule.h"
#include "analysis/store.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

// What a rule found, its texts filled in.
struct Insight {
  std::string rule;
  Severity severity = Severity::kMedium;
  std::string title;
  std::string says;
  std::optional<std::int64_t> gain_ns;
  std::string gain;  // how it was computed
  std::string advice;
  std::string place;  // of rule.h, with values; "" where the rule has none
};

// The rules that are part of the program, by id.
Result<std::vector<Rule>> own_rules();
// Every *.sql of a directory, by name; one that is malformed is an error that names it.
Result<std::vector<Rule>> rules_in(const std::string& directory);
// Ours, and those of the directories; a later rule replaces one with the same id.
Result<std::vector<Rule>> all_rules(std::span<const std::string> directories);
// Ours; those in FATHOM_RULES (directories, by colons), or else in ~/.config/fathom/rules where
// that exists; and those in the directories.
Result<std::vector<Rule>> rules_for(const std::vector<std::string>& directories);

// What the rules have to say: what saves most of the run's time first, then what has no such price,
// then what is good. A gain is never longer than the run, and one below a hundredth of it is not
// told. A rule whose query fails is an error that names it.
Result<std::vector<Insight>> find_insights(Store& store, std::span<const Rule> rules);

// The rows behind a rule.
Result<Table> evidence_of(Store& store, const Rule& rule);

}  // namespace fathom::analysis
