// SPDX-License-Identifier: MIT
// Parses budget files. A reader of its own, beside that of suites and instructions
// (fleet/yaml_keys.h): this room is below theirs. The unit of a limit depends on what is measured,
// so keys are taken first, in any order, and what they mean is settled when all are there.
// yaml-cpp's exceptions become Errors here.
#include "analysis/check/budget.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "analysis/check/measures.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMaxFileBytes = 1U << 20U;  // budget files are written by hand
constexpr char kForm[] = "see docs/budget.md for the format";

// A key whose value is a string, and the member that stores it.
struct TextKey {
  std::string_view key;
  std::string Budget::*place;
};
constexpr TextKey kTextKeys[] = {
    {"name", &Budget::name},       {"measure", &Budget::measure},   {"function", &Budget::function},
    {"layer", &Budget::layer},     {"category", &Budget::category}, {"file", &Budget::file},
    {"counter", &Budget::counter}, {"rule", &Budget::rule},         {"sql", &Budget::sql},
};

std::size_t line_of(const YAML::Node& node) {
  return static_cast<std::size_t>(std::max(node.Mark().line, 0)) + 1;
}

// A budget that is being parsed. Limits are parsed last, because their unit depends on the measure.
struct Draft {
  Budget budget;
  std::optional<YAML::Node> max, min, severity;
};

class Reader {
 public:
  explicit Reader(const std::string& where) : where_(where) {}

  Result<std::vector<Budget>> read(const YAML::Node& document) {
    if (!document.IsMap())
      return wrong(1, "a budget file must be a mapping with the key 'budgets'");
    YAML::Node list;
    bool found = false;
    for (const auto& entry : document) {
      FATHOM_ASSIGN(const std::string key, key_of(entry.first));
      if (key != "budgets") return wrong(line_of(entry.first), "unknown key '" + key + "'");
      if (found) return wrong(line_of(entry.first), "duplicate key 'budgets'");
      found = true;
      list = entry.second;
    }
    if (!found || !list.IsSequence() || list.size() == 0) {
      return wrong(found ? line_of(list) : 1, "'budgets' must be a list of at least one budget");
    }
    std::vector<Budget> budgets;
    for (const auto& node : list) {
      FATHOM_ASSIGN(Budget budget, read_budget(node));
      budgets.push_back(std::move(budget));
    }
    return budgets;
  }

 private:
  [[nodiscard]] Error wrong(std::size_t line, const std::string& what,
                            const std::string& hint = kForm) const {
    return {Code::kInvalid, fmt::format("{}:{}: {}", where_, line, what), hint};
  }

  [[nodiscard]] Result<std::string> key_of(const YAML::Node& node) const {
    if (!node.IsScalar()) return wrong(line_of(node), "a key must be a string");
    return escape_control(node.Scalar());
  }

  [[nodiscard]] Result<std::string> text_of_key(const std::string& key,
                                                const YAML::Node& node) const {
    const bool given = node.IsScalar() && !trim(node.Scalar()).empty();
    if (!given) return wrong(line_of(node), "'" + key + "' needs a string value");
    return node.Scalar();
  }

  Result<Budget> read_budget(const YAML::Node& node) {
    if (!node.IsMap()) return wrong(line_of(node), "a budget must be a mapping of keys to values");
    Draft draft;
    draft.budget.line = line_of(node);
    std::vector<std::string> seen;
    for (const auto& entry : node) {
      FATHOM_ASSIGN(const std::string key, key_of(entry.first));
      if (std::ranges::find(seen, key) != seen.end()) {
        return wrong(line_of(entry.first), "duplicate key '" + key + "'");
      }
      seen.push_back(key);
      FATHOM_TRY(read_key(key, entry.first, entry.second, draft));
    }
    FATHOM_TRY(resolve_measure(draft.budget));
    FATHOM_TRY(check_selectors(draft));
    FATHOM_TRY(read_severity(draft));
    FATHOM_TRY(read_limits(draft));
    if (draft.budget.name.empty()) draft.budget.name = default_name(draft.budget);
    return draft.budget;
  }

  Status read_key(const std::string& key, const YAML::Node& at, const YAML::Node& value,
                  Draft& draft) {
    const auto text = std::ranges::find(kTextKeys, key, &TextKey::key);
    if (text != std::end(kTextKeys)) {
      FATHOM_ASSIGN(draft.budget.*(text->place), text_of_key(key, value));
      return {};
    }
    if (key == "max" || key == "min") {
      (key == "max" ? draft.max : draft.min).emplace(value);
      return {};
    }
    if (key == "severity") {
      draft.severity.emplace(value);
      return {};
    }
    if (key != "optional") {
      return wrong(
          line_of(at), "unknown key '" + key + "'",
          "valid keys: name, measure, function, layer, category, file, counter, sql, rule, "
          "severity, max, min, optional");
    }
    FATHOM_ASSIGN(const std::string word, text_of_key(key, value));
    if (word != "true" && word != "false") {
      return wrong(line_of(value), "'optional' must be true or false");
    }
    draft.budget.optional = word == "true";
    return {};
  }

  [[nodiscard]] Status resolve_measure(Budget& budget) const {
    if (!budget.sql.empty()) {
      if (!budget.measure.empty()) {
        return wrong(budget.line, "'sql' and 'measure' cannot be used together");
      }
      budget.measure = "sql";
      return {};
    }
    if (budget.measure.empty()) {
      return wrong(budget.line, "a budget needs 'measure' or 'sql'",
                   "valid measures: " + measure_names());
    }
    const MeasureDef* measure = find_measure(budget.measure, !budget.counter.empty());
    if (measure == nullptr) {
      return wrong(budget.line, "unknown measure '" + escape_control(budget.measure) + "'",
                   budget.counter.empty() ? "valid measures: " + measure_names()
                                          : "valid measures of a counter: total, mean, max");
    }
    budget.unit = measure->unit;
    return {};
  }

  // Rejects selectors that the measure does not use: ignoring them would check something else than
  // the user asked for.
  [[nodiscard]] Status check_selectors(const Draft& draft) const {
    const Budget& budget = draft.budget;
    std::vector<std::string_view> allowed;
    if (budget.measure != "sql") {
      switch (find_measure(budget.measure, !budget.counter.empty())->subject) {
        case Subject::kRun:
          break;
        case Subject::kCalls:
          allowed = {"function", "layer", "category", "file"};
          break;
        case Subject::kCounter:
          allowed = {"counter", "layer"};
          break;
        case Subject::kLosses:
          allowed = {"layer"};
          break;
        case Subject::kInsights:
          allowed = {"rule", "severity"};
          break;
      }
    }
    const auto check = [&](std::string_view key, bool given) -> Status {
      if (!given || std::ranges::find(allowed, key) != allowed.end()) return {};
      return wrong(budget.line,
                   fmt::format("'{}' cannot be used with measure '{}'", key, budget.measure));
    };
    for (const TextKey& key : kTextKeys) {
      if (key.key == "name" || key.key == "measure" || key.key == "sql") continue;
      FATHOM_TRY(check(key.key, !(budget.*(key.place)).empty()));
    }
    if (draft.severity && !budget.rule.empty()) {
      return wrong(budget.line, "'rule' and 'severity' cannot be used together");
    }
    return check("severity", draft.severity.has_value());
  }

  Status read_severity(Draft& draft) const {
    if (!draft.severity) return {};
    FATHOM_ASSIGN(const std::string word, text_of_key("severity", *draft.severity));
    for (const Severity severity : {Severity::kHigh, Severity::kMedium, Severity::kLow}) {
      if (word != severity_name(severity)) continue;
      draft.budget.severity = severity;
      return {};
    }
    return wrong(line_of(*draft.severity), "'severity' must be high, medium or low");
  }

  Status read_limits(Draft& draft) const {
    Budget& budget = draft.budget;
    for (const auto& [key, node, place] :
         {std::tuple("max", &draft.max, &budget.max), std::tuple("min", &draft.min, &budget.min)}) {
      if (!*node) continue;
      FATHOM_ASSIGN(const std::string text, text_of_key(key, **node));
      Result<Limit> limit = parse_limit(text, budget.unit);
      if (!limit) return wrong(line_of(**node), limit.error().message, limit.error().hint);
      // The result of a query or counter takes the unit of its first limit.
      if (budget.unit == Measure::kNone) budget.unit = limit->unit;
      *place = std::move(limit).value();
    }
    if (!budget.max && !budget.min && budget.measure == "insights") budget.max = Limit{.text = "0"};
    if (!budget.max && !budget.min) return wrong(budget.line, "a budget needs 'max' or 'min'");
    return {};
  }

  static std::string default_name(const Budget& budget) {
    if (budget.measure == "sql") return fmt::format("query in line {}", budget.line);
    std::vector<std::string> of;
    for (const std::string* part : {&budget.function, &budget.counter, &budget.rule, &budget.file,
                                    &budget.category, &budget.layer}) {
      if (!part->empty()) of.push_back(*part);
    }
    return of.empty() ? budget.measure : budget.measure + " of " + join(of, ", ");
  }

  const std::string& where_;
};

}  // namespace

Result<std::vector<Budget>> parse_budgets(const std::string& text, const std::string& where) {
  if (text.size() > kMaxFileBytes) {
    return Error{Code::kInvalid, where + " is too large for a budget file", kForm};
  }
  try {
    return Reader(where).read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 0 : error.mark.line;
    return Error{Code::kInvalid,
                 fmt::format("{}:{}: invalid YAML: {}", where, line + 1, escape_control(error.msg)),
                 kForm};
  }
}

}  // namespace fathom::analysis
