// SPDX-License-Identifier: MIT
// Parses the comment header of a rule and fills values into its sentences. Errors name the file,
// since rules are written by users.
#include "analysis/insights/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/layer_sql.h"
#include "base/cell.h"
#include "base/plural.h"
#include "base/text.h"
#include "base/utf8.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

constexpr std::string_view kSeverities[] = {"high", "medium", "low", "good"};
constexpr std::string_view kEvidenceMark = "-- evidence:";
constexpr std::string_view kPlaces[] = {"events where ", "samples where ", "processes where ",
                                        "view "};

using Header = std::map<std::string, std::string, std::less<>>;

Error bad_rule(const std::string& where, const std::string& what) {
  return {Code::kCorrupt, where + ": " + what, "docs/rules.md explains the format"};
}

bool is_id(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !text.empty() && text.size() <= 60 && text.front() != '-' &&
         std::ranges::all_of(text, fits);
}

// The comment lines at the start, as `key: text`; the rest of the text begins at `end`.
// Comments of SQL, so that a rule is a file that any SQL client runs. A line that is indented goes
// on with the one before it.
Result<Header> read_header(std::string_view text, const std::string& where, std::size_t& end) {
  Header header;
  std::string* last = nullptr;
  end = 0;
  while (text.substr(end).starts_with("--") && !text.substr(end).starts_with(kEvidenceMark)) {
    const std::size_t stop = std::min(text.find('\n', end), text.size());
    const std::string_view line = text.substr(end + 2, stop - end - 2);
    end = std::min(stop + 1, text.size());
    const std::string_view words = trim(line);
    if (line.starts_with("  ") && last != nullptr) {
      *last += (last->empty() ? "" : " ") + std::string(words);
      continue;
    }
    if (words.empty() || words.starts_with("SPDX-")) continue;
    const std::size_t colon = words.find(':');
    if (colon == std::string_view::npos)
      return bad_rule(where, "'" + escape_control(words) + "' is not 'key: text'");
    last = &header[std::string(trim(words.substr(0, colon)))];
    *last = trim(words.substr(colon + 1));
  }
  return header;
}

Status check_keys(const Header& header, const std::string& where) {
  constexpr std::string_view kNeeded[] = {"id", "severity", "title", "says", "try"};
  for (const std::string_view key : kNeeded) {
    const auto found = header.find(key);
    if (found == header.end() || found->second.empty())
      return bad_rule(where, "there is no '-- " + std::string(key) + ":'");
  }
  for (const auto& [key, text] : header) {
    if (key != "gain" && key != "of" && key != "place" &&
        std::ranges::find(kNeeded, key) == std::end(kNeeded))
      return bad_rule(where, "unknown key '" + escape_control(key) + "'");
  }
  return {};
}

// "read 1000, processes 2"
Result<std::vector<RuleNeed>> read_needs(std::string_view text, const std::string& where) {
  std::vector<RuleNeed> needs;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view words = trim(part);
    if (words.empty()) continue;
    const std::size_t blank = words.find(' ');
    RuleNeed need{.of = std::string(words.substr(0, blank))};
    if (blank != std::string_view::npos) {
      const Result<std::int64_t> least = parse_int(trim(words.substr(blank)));
      if (!least) return bad_rule(where, "'" + escape_control(words) + "' is not 'layer number'");
      need.least = *least;
    }
    needs.push_back(std::move(need));
  }
  return needs;
}

std::string without_semicolon(std::string_view sql) {
  sql = trim(sql);
  while (sql.ends_with(';')) sql = trim(sql.substr(0, sql.size() - 1));
  return std::string(sql);
}

std::string plain_text(const Value& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.data)) return *text;
  const std::optional<double> number = number_in(cell);
  return number ? fmt::format("{:g}", *number) : "?";
}

std::string literal(const Value& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.data)) return sql::quote_literal(*text);
  if (const auto* number = std::get_if<std::int64_t>(&cell.data)) return std::to_string(*number);
  const std::optional<double> number = number_in(cell);
  return number ? fmt::format("{}", *number) : "NULL";
}

// A form is one word; `count` may be followed by what is counted, in the singular.
Result<std::string> shown(const Value& cell, std::string_view form) {
  constexpr std::string_view kCounted = "count ";
  const std::string_view noun =
      form.starts_with(kCounted) ? trim(form.substr(kCounted.size())) : std::string_view();
  if (!noun.empty()) form = "count";
  if (form == "text") return plain_text(cell);
  if (form == "sql") return literal(cell);
  const std::optional<double> number = number_in(cell);
  if (form != "count" && form != "bytes" && form != "ns" && form != "percent") {
    return Error{Code::kCorrupt, "'" + std::string(form) + "' is not a format",
                 "use count, count NOUN, bytes, ns, percent, text, or sql in a place"};
  }
  if (!number) return std::string("?");
  if (!noun.empty()) return counted_roughly(*number, noun);
  if (form == "count") return human_count(*number);
  if (form == "bytes") return human_bytes(*number);
  if (form == "ns") return human_ns(*number);
  return fmt::format("{:.1f} %", *number);
}

}  // namespace

std::string_view severity_name(Severity severity) {
  return kSeverities[static_cast<std::size_t>(severity)];
}

bool is_place(std::string_view text) {
  return std::ranges::any_of(kPlaces, [&](std::string_view each) {
    return text.starts_with(each) && text.size() > each.size();
  });
}

Result<Rule> parse_rule(std::string_view text, const std::string& where) {
  if (!is_valid_utf8(text)) return bad_rule(where, "it is not UTF-8 text");
  std::size_t end = 0;
  FATHOM_ASSIGN(Header header, read_header(text, where, end));
  FATHOM_TRY(check_keys(header, where));
  Rule rule;
  rule.id = header["id"];
  if (!is_id(rule.id)) return bad_rule(where, "an id is made of a-z, 0-9 and '-'");
  const auto* const severity = std::ranges::find(kSeverities, header["severity"]);
  if (severity == std::end(kSeverities))
    return bad_rule(where, "the severity is high, medium, low or good");
  rule.severity = static_cast<Severity>(severity - std::begin(kSeverities));
  FATHOM_ASSIGN(rule.needs, read_needs(header["of"], where));
  rule.title = header["title"];
  rule.says = header["says"];
  rule.gain = header["gain"];
  rule.advice = header["try"];
  rule.place = layer_sql(header["place"]);
  // One that begins with a value is known when the rule is asked.
  if (!rule.place.empty() && rule.place.front() != '{' && !is_place(rule.place))
    return bad_rule(
        where, "a place begins with 'events where', 'samples where', 'processes where' or 'view'");
  const std::string_view rest = text.substr(end);
  const std::size_t mark =
      rest.starts_with(kEvidenceMark) ? 0 : rest.find("\n" + std::string(kEvidenceMark));
  rule.query = layer_sql(without_semicolon(rest.substr(0, mark)));
  if (rule.query.empty()) return bad_rule(where, "there is no query");
  if (mark == std::string_view::npos) return bad_rule(where, "there is no '-- evidence:'");
  rule.evidence = layer_sql(
      without_semicolon(rest.substr(rest.find(kEvidenceMark, mark) + kEvidenceMark.size())));
  if (rule.evidence.empty()) return bad_rule(where, "there is no query after '-- evidence:'");
  return rule;
}

Result<std::string> fill_in(std::string_view words, const Table& table,
                            const std::vector<Value>& row) {
  std::string text;
  while (true) {
    const std::size_t open = words.find('{');
    text += words.substr(0, open);
    if (open == std::string_view::npos) return text;
    const std::size_t close = words.find('}', open);
    if (close == std::string_view::npos) return Error{Code::kCorrupt, "a '{' without a '}'", ""};
    const std::string_view inside = words.substr(open + 1, close - open - 1);
    const std::size_t colon = inside.find(':');
    const std::string_view name = inside.substr(0, colon);
    const auto column = std::ranges::find(table.columns, name, &Column::name);
    if (column == table.columns.end())
      return Error{Code::kCorrupt, "the query has no column '" + std::string(name) + "'", ""};
    const auto& cell = row[static_cast<std::size_t>(column - table.columns.begin())];
    FATHOM_ASSIGN(const std::string value,
                  shown(cell, colon == std::string_view::npos ? "text" : inside.substr(colon + 1)));
    text += value;
    words = words.substr(close + 1);
  }
}

}  // namespace fathom::analysis
