// SPDX-License-Identifier: MIT
// Parses single lines and keeps no state, so that waggle_fuzz.cc can feed it any bytes. Times that
// a recording could not hold count as no line at all.
#include "analysis/import/waggle_lines.h"

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostCpus = 4096;

std::optional<double> real_in(std::string_view word) {
  double value = 0;
  word = trim(word);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::int64_t> time_in(std::string_view word) {
  constexpr double kNsPerSecond = 1e9, kMost = 9e9;  // seconds since 1970
  const auto seconds = real_in(word);
  if (!seconds || *seconds < 0 || *seconds > kMost) return {};
  const double whole = std::floor(*seconds);
  return static_cast<std::int64_t>(whole) * static_cast<std::int64_t>(kNsPerSecond) +
         std::llround((*seconds - whole) * kNsPerSecond);
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::optional<WaggleMoment> parse_waggle_moment(std::string_view line) {
  line = trim(line);
  const std::size_t comma = line.find(',');
  if (comma == std::string_view::npos) return {};
  const auto time = time_in(line.substr(0, comma));
  std::string_view words = line.substr(comma + 1);
  if (words.size() >= 2 && words.starts_with('"') && words.ends_with('"'))
    words = words.substr(1, words.size() - 2);
  if (!time) return {};
  WaggleMoment moment;
  moment.epoch_ns = *time;
  moment.begins = take_prefix(words, "In Function ");
  if (moment.begins || take_prefix(words, "Leaving Function ")) {
    if (words.ends_with("()")) words.remove_suffix(2);
  } else {
    moment.is_loop = true;
    moment.begins = take_prefix(words, "Top of ");
    if (!moment.begins && !take_prefix(words, "Bottom of ")) return {};
  }
  moment.name = trim(words);
  if (moment.name.empty()) return {};
  return moment;
}

std::optional<WaggleStats> parse_waggle_stats(std::string_view line) {
  const std::vector<std::string_view> words = split(trim(line), ',');
  if (words.size() < 3 || words.size() > kMostCpus) return {};
  const auto time = time_in(words[0]);
  if (!time) return {};
  WaggleStats stats;
  stats.epoch_ns = *time;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto share = real_in(words[i]);
    if (!share) return {};
    stats.cpus.push_back(*share);
  }
  stats.memory = stats.cpus.back();
  stats.cpus.pop_back();
  return stats;
}

}  // namespace fathom::analysis
