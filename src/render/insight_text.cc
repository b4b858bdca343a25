// SPDX-License-Identifier: MIT
// Insights as text for people and as a table for programs, for `report` and `show` alike.
#include "render/insight_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "render/wrap.h"

namespace fathom::render {
namespace {

std::string gain_sentence(const analysis::Insight& insight, Format format) {
  return fmt::format("Could save up to {}: {}.", human_ns(static_cast<double>(*insight.gain_ns)),
                     sentence_text(insight.gain, format));
}

}  // namespace

std::string insight_text(const std::vector<analysis::Insight>& insights, Format format,
                         const Style& style) {
  constexpr std::size_t kIndent = 4;
  const std::size_t width = format == Format::kTable ? style.width : kNoLimit;
  const auto line = [&](const std::string& words) { return sentence_text(words, format); };
  const auto strong = [&](const std::string& words) {
    return style.color ? "\x1b[1m" + words + "\x1b[0m" : words;
  };
  std::string text;
  for (const analysis::Insight& one : insights) {
    const bool good = one.severity == analysis::Severity::kGood;
    text += fmt::format("{} {} ({}, {})\n", good ? "+" : "!", strong(line(one.title)),
                        analysis::severity_name(one.severity), one.rule);
    text += wrapped(line(one.says) + ".", kIndent, width);
    if (one.gain_ns) text += wrapped(gain_sentence(one, format), kIndent, width);
    if (!good) text += wrapped("Try: " + line(one.advice) + ".", kIndent, width);
  }
  return text.empty() ? text : text + "\n";
}

Table insight_table(const std::vector<analysis::Insight>& insights) {
  Table table{.title = "Insights",
              .columns = {{"rule"},
                          {"severity"},
                          {"title"},
                          {"says"},
                          {"gain", Measure::kNanoseconds},
                          {"why"},
                          {"try"},
                          {"place"}},
              .rows = {},
              .note = {}};
  for (const analysis::Insight& one : insights) {
    table.rows.push_back({one.rule, std::string(analysis::severity_name(one.severity)), one.title,
                          one.says, one.gain_ns ? Value(*one.gain_ns) : Value(), one.gain,
                          one.advice, one.place.empty() ? Value() : Value(one.place)});
  }
  return table;
}

}  // namespace fathom::render
