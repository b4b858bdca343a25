// SPDX-License-Identifier: MIT
// Parsers of a control group's files. A line that is not understood is skipped: kernels add some.
#include "sources/resources/group_text.h"

#include <charconv>

#include "base/text.h"

namespace fathom::sources {
namespace {

std::optional<std::uint64_t> whole(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words = split(line, ' ');
  std::erase(words, "");
  return words;
}

// The value of "key=7" if this is that key.
void add_if(std::string_view word, std::string_view key, double& to) {
  if (!word.starts_with(key)) return;
  if (const auto value = whole(word.substr(key.size()))) to += static_cast<double>(*value);
}

}  // namespace

Transfers parse_blkio(std::string_view text) {
  Transfers sums;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != 3) continue;  // "Total 5" is the sum of all
    const auto value = whole(words[2]);
    if (value && words[1] == "Read") sums.read += static_cast<double>(*value);
    if (value && words[1] == "Write") sums.written += static_cast<double>(*value);
  }
  return sums;
}

IoStat parse_io_stat(std::string_view text) {
  IoStat sums;
  for (const std::string_view line : split(text, '\n')) {
    for (const std::string_view word : words_of(line)) {
      add_if(word, "rbytes=", sums.bytes.read);
      add_if(word, "wbytes=", sums.bytes.written);
      add_if(word, "rios=", sums.calls.read);
      add_if(word, "wios=", sums.calls.written);
    }
  }
  return sums;
}

std::vector<std::uint64_t> parse_usage_by_cpu(std::string_view text) {
  std::vector<std::uint64_t> usage;
  for (const std::string_view word : words_of(trim(text))) {
    const auto value = whole(word);
    if (!value) return {};
    usage.push_back(*value);
  }
  return usage;
}

std::optional<std::uint64_t> parse_pressure(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("some ")) continue;
    const std::size_t at = line.rfind(" total=");
    if (at != std::string_view::npos) return whole(line.substr(at + 7));
  }
  return {};
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const std::vector<std::string_view> words = words_of(trim(text));
  if (words.size() != 2) return {};
  const auto quota = whole(words[0]);
  const auto period = whole(words[1]);
  if (!quota || !period || *period == 0) return {};
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// "  eth0: received packets errs drop fifo frame compressed multicast sent …"
std::map<std::string, Traffic> parse_net_dev(std::string_view text) {
  constexpr std::size_t kSent = 8;
  std::map<std::string, Traffic> traffic;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = trim(line.substr(0, colon));
    const std::vector<std::string_view> words = words_of(line.substr(colon + 1));
    if (name == "lo" || words.size() <= kSent) continue;
    const auto received = whole(words[0]);
    const auto sent = whole(words[kSent]);
    if (received && sent) traffic[std::string(name)] = {*received, *sent};
  }
  return traffic;
}

}  // namespace fathom::sources
