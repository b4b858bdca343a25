// SPDX-License-Identifier: MIT
// Read as DFTracer 2.2 reads them, but for spaces inside `IN {…}` and stars inside a pattern, which
// it takes for no match.
#include "render/export/dftracer_rules.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "render/export/pfw_words.h"

namespace fathom::render {
namespace {

using Kind = DftracerRule::Kind;

constexpr int kDeepest = 32;

std::string unquoted(std::string_view text) {
  text = trim(text);
  const bool quoted = text.size() > 1 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

// What stands before and behind a word; nothing: it is not there.
std::optional<std::pair<std::string_view, std::string_view>> cut_at(std::string_view text,
                                                                    std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair(trim(text.substr(0, at)), trim(text.substr(at + word.size())));
}

std::optional<DftracerRule> parse_leaf(std::string_view text) {
  if (const auto parts = cut_at(text, " IN "); parts && parts->second.starts_with('{')) {
    if (!parts->second.ends_with('}')) return std::nullopt;
    DftracerRule rule{.kind = Kind::kIn, .field = std::string(parts->first)};
    for (const std::string_view one : split(parts->second.substr(1, parts->second.size() - 2), ','))
      rule.values.push_back(unquoted(one));
    return rule;
  }
  if (const auto parts = cut_at(text, " LIKE "))
    return DftracerRule{.kind = Kind::kLike,
                        .field = std::string(parts->first),
                        .values = {unquoted(parts->second)}};
  for (const std::string_view comparison : {"==", "!=", ">=", "<=", ">", "<"}) {
    if (const auto parts = cut_at(text, comparison))
      return DftracerRule{.field = std::string(parts->first),
                          .comparison = std::string(comparison),
                          .values = {unquoted(parts->second)}};
  }
  return std::nullopt;
}

// AND is looked for first, so it divides first: that is how DFTracer reads them, whatever SQL says.
std::optional<DftracerRule> parse(std::string_view text, int depth) {
  text = trim(text);
  if (depth == kDeepest) return std::nullopt;
  const auto of = [&](Kind kind, auto... parts) -> std::optional<DftracerRule> {
    DftracerRule rule{.kind = kind};
    for (const std::string_view part : {parts...}) {
      std::optional<DftracerRule> inner = parse(part, depth + 1);
      if (!inner) return std::nullopt;
      rule.inside.push_back(std::move(*inner));
    }
    return rule;
  };
  if (text.starts_with("NOT ")) return of(Kind::kNot, text.substr(4));
  for (const auto& [word, kind] : {std::pair(" AND ", Kind::kAnd), std::pair(" OR ", Kind::kOr)}) {
    if (const auto parts = cut_at(text, word)) return of(kind, parts->first, parts->second);
  }
  return parse_leaf(text);
}

// `pattern` has stars, each of which stands for any text.
bool is_like(std::string_view text, std::string_view pattern) {
  const std::vector<std::string_view> parts = split(pattern, '*');
  if (parts.size() == 1) return text == pattern;
  if (!text.starts_with(parts.front())) return false;
  text.remove_prefix(parts.front().size());
  for (std::size_t i = 1; i + 1 < parts.size(); i++) {
    const std::size_t at = text.find(parts[i]);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + parts[i].size());
  }
  return text.ends_with(parts.back());
}

template <class Value>
bool holds(const Value& left, std::string_view comparison, const Value& right) {
  if (comparison == "==") return left == right;
  if (comparison == "!=") return left != right;
  if (comparison == ">=") return left >= right;
  if (comparison == "<=") return left <= right;
  return comparison == ">" ? left > right : left < right;
}

std::optional<std::int64_t> number_in(const DftracerFacts& event, std::string_view field) {
  if (field == "dur") return event.dur;
  if (field == "ts") return event.ts;
  return field == "rank" ? event.rank : std::nullopt;
}

std::optional<std::string_view> text_in(const DftracerFacts& event, std::string_view field) {
  if (field == "cat") return event.cat;
  if (field == "name") return event.name;
  if (field == "app") return event.app;
  if (!field.starts_with("tags.")) return std::nullopt;
  for (const auto& [key, value] : event.args) {
    if (key == field.substr(5)) return value;
  }
  return std::nullopt;
}

bool compare(const DftracerRule& rule, const DftracerFacts& event) {
  const std::string_view right = rule.values.front();
  const std::optional<double> limit = number_of(right);
  if (const auto number = number_in(event, rule.field))
    return limit && holds(static_cast<double>(*number), rule.comparison, *limit);
  const auto text = text_in(event, rule.field);
  if (!text) return false;
  const std::optional<double> number = limit ? number_of(*text) : std::nullopt;
  return number ? holds(*number, rule.comparison, *limit) : holds(*text, rule.comparison, right);
}

}  // namespace

bool DftracerRule::fits(const DftracerFacts& event) const {
  switch (kind) {
    case Kind::kNot:
      return !inside[0].fits(event);
    case Kind::kAnd:
      return inside[0].fits(event) && inside[1].fits(event);
    case Kind::kOr:
      return inside[0].fits(event) || inside[1].fits(event);
    case Kind::kCompare:
      return compare(*this, event);
    case Kind::kIn:
    case Kind::kLike:
      break;
  }
  const auto text = text_in(event, field);
  if (!text) return false;
  return kind == Kind::kIn ? std::ranges::find(values, *text) != values.end()
                           : is_like(*text, values.front());
}

std::optional<DftracerRule> parse_dftracer_rule(std::string_view text) { return parse(text, 0); }

void DftracerRules::add(std::string_view rule, std::vector<DftracerRule>& to) {
  given_ = true;
  if (auto parsed = parse_dftracer_rule(rule)) to.push_back(std::move(*parsed));
}

bool DftracerRules::choose(const DftracerFacts& event) const {
  const auto fits = [&](const DftracerRule& rule) { return rule.fits(event); };
  return !given_ || (std::ranges::any_of(include_, fits) && std::ranges::none_of(exclude_, fits));
}

}  // namespace fathom::render
