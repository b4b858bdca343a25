// SPDX-License-Identifier: MIT
// One sentence for the whole, one for who used the CPUs, one for what was waited for.
#include "analysis/time_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/cell.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr double kWorthSaying = 1.0;  // percent
constexpr std::size_t kMostNamed = 3;

struct Part {
  std::string state, cause, name;
  std::int64_t ns = 0;
  double share = 0;
};

std::vector<Part> parts_of(const Table& time) {
  std::vector<Part> parts;
  for (const std::vector<Value>& row : time.rows) {
    const double* share = std::get_if<double>(&row[4].data);
    parts.push_back({.state = text_of(row[0]),
                     .cause = text_of(row[1]),
                     .name = text_of(row[2]),
                     .ns = int_of(row[3]),
                     .share = share == nullptr ? 0 : *share});
  }
  return parts;
}

// The longest ones of a state, as far as they are worth it.
std::vector<Part> longest(const std::vector<Part>& parts, std::string_view state) {
  std::vector<Part> found;
  std::ranges::copy_if(parts, std::back_inserter(found), [&](const Part& part) {
    return part.state == state && part.share >= kWorthSaying;
  });
  std::ranges::stable_sort(found, std::ranges::greater(), &Part::ns);
  if (found.size() > kMostNamed) found.resize(kMostNamed);
  return found;
}

std::string whole_words(const std::vector<Part>& parts, bool of_one) {
  std::map<std::string_view, double> shares;
  for (const Part& part : parts) shares[part.state] += part.share;
  std::string text = fmt::format("{} ran on a CPU for {:.1f} % of {} time and waited for {:.1f} %",
                                 of_one ? "The thread" : "The threads", shares["running"],
                                 of_one ? "its" : "their", shares["waiting"]);
  if (shares["ready"] >= kWorthSaying)
    text += fmt::format("; for {:.1f} % {} could have run, but had no CPU", shares["ready"],
                        of_one ? "it" : "they");
  if (shares["unexplained"] >= kWorthSaying)
    text += fmt::format("; {:.1f} % is unexplained", shares["unexplained"]);
  return text + ".";
}

// "sleep in nanosleep"; a name that begins with its cause says both: "page fault in main".
std::string what_of(const Part& part) {
  const bool says_cause =
      part.cause.empty() || part.name == part.cause || part.name.starts_with(part.cause + " ");
  return part.state != "waiting" || says_cause ? part.name
         : part.name.empty()                   ? part.cause
                                               : part.cause + " in " + part.name;
}

std::string listed(const std::vector<Part>& parts, std::string_view title) {
  std::vector<std::string> words;
  for (const Part& part : parts) {
    words.push_back(fmt::format("{} {} ({:.1f} %)", what_of(part),
                                human_ns(static_cast<double>(part.ns)), part.share));
  }
  return fmt::format("{}: {}.", title, join(words, ", "));
}

}  // namespace

std::vector<std::string> time_words(const Table& time, bool of_one) {
  if (time.rows.empty()) return {};
  const std::vector<Part> parts = parts_of(time);
  std::vector<std::string> words = {whole_words(parts, of_one)};
  const std::vector<Part> ran = longest(parts, "running");
  if (!ran.empty()) words.push_back(listed(ran, "Most CPU time"));
  const std::vector<Part> waits = longest(parts, "waiting");
  if (!waits.empty()) words.push_back(listed(waits, "Longest waits"));
  return words;
}

}  // namespace fathom::analysis
