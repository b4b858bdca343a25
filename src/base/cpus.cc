// SPDX-License-Identifier: MIT
// Numbers may have gaps, where a CPU was taken off: counting them would ask for one that is not
// there.
#include "base/cpus.h"

#include <charconv>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr int kMostCpus = 1 << 16;

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 && number < kMostCpus ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string_view word : split(trim(text), ',')) {
    const std::size_t dash = word.find('-');
    const std::optional<int> first = number_in(word.substr(0, dash));
    const std::optional<int> last =
        dash == std::string_view::npos ? first : number_in(word.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; cpu++) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> online_cpus() {
  const Result<std::string> text = read_file("/sys/devices/system/cpu/online");
  const std::optional<std::vector<int>> cpus = text ? parse_cpu_list(*text) : std::nullopt;
  return cpus.value_or(std::vector{0});
}

}  // namespace fathom
