// SPDX-License-Identifier: MIT
// Parsers of /proc and cgroup files, apart from reading them, so that odd names such as ") R 1" can
// be tested as texts.
#include "base/proc_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace fathom {
namespace {

constexpr std::string_view kBlanks = " \t\n";

// Takes the next word off the front of `rest`; "" at the end.
std::string_view next_word(std::string_view& rest) {
  const std::size_t start = std::min(rest.find_first_not_of(kBlanks), rest.size());
  rest.remove_prefix(start);
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

template <class T>
bool read_number(std::string_view word, T& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

constexpr std::size_t kNeededFields = 21;

// Some are unsigned and as large as can be.
bool read_field(std::string_view word, std::int64_t& field) {
  if (read_number(word, field)) return true;
  std::uint64_t large = 0;
  if (!read_number(word, large)) return false;
  field = static_cast<std::int64_t>(large);
  return true;
}

bool read_address(std::string_view word, std::uint64_t& address) {
  if (!word.starts_with("0x")) return false;
  word.remove_prefix(2);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), address, 16);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name may hold anything, also ") R 1": the last parenthesis ends it.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  ProcessStat stat;
  if (!read_number(trim(text.substr(0, open)), stat.pid)) return {};
  stat.name = text.substr(open + 1, close - open - 1);

  std::string_view rest = text.substr(close + 1);
  const std::string_view state = next_word(rest);
  if (state.size() != 1) return {};
  stat.state = state[0];
  // From ppid, the 4th of the man page. Those up to rss, the 24th, are always there.
  std::array<std::int64_t, 36> fields{};
  fields.back() = -1;
  for (std::size_t i = 0; i < fields.size(); i++) {
    if (read_field(next_word(rest), fields[i])) continue;
    if (i < kNeededFields) return {};
    break;
  }
  const auto field = [&](std::size_t of_man_page) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, fields[of_man_page - 4]));
  };
  stat.ppid = static_cast<std::int32_t>(fields[0]);
  stat.minor_faults = field(10);
  stat.major_faults = field(12);
  stat.user_ticks = field(14);
  stat.system_ticks = field(15);
  stat.threads = field(20);
  stat.start_ticks = field(22);
  stat.vsize_bytes = field(23);
  stat.rss_pages = field(24);
  stat.start_stack = field(28);
  stat.cpu = static_cast<std::int32_t>(fields[39 - 4]);
  return stat;
}

std::optional<SchedStat> parse_schedstat(std::string_view text) {
  SchedStat stat;
  if (!read_number(next_word(text), stat.ran) || !read_number(next_word(text), stat.ready) ||
      !read_number(next_word(text), stat.arrivals) || stat.ran < 0 || stat.ready < 0)
    return {};
  return stat;
}

// "NUMBER six arguments SP PC", "-1 SP PC", or "running".
std::optional<SleepingIn> parse_syscall(std::string_view text) {
  SleepingIn sleeping;
  if (!read_number(next_word(text), sleeping.call)) return {};
  for (std::uint64_t& argument : sleeping.arguments) {
    if (sleeping.call >= 0 && !read_address(next_word(text), argument)) return {};
  }
  if (!read_address(next_word(text), sleeping.stack_pointer)) return {};
  return sleeping;
}

std::optional<std::uint64_t> number_of(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.empty() || (line[0] != ':' && line[0] != ' ' && line[0] != '\t')) continue;
    if (line[0] == ':') line.remove_prefix(1);
    std::uint64_t value = 0;
    if (read_number(next_word(line), value)) return value;
  }
  return {};
}

std::optional<std::uint64_t> only_number(std::string_view text) {
  std::uint64_t value = 0;
  if (!read_number(trim(text), value)) return {};
  return value;
}

std::optional<MachineCpu> parse_machine_cpu(std::string_view text) {
  std::string_view rest = text.substr(0, text.find('\n'));
  if (next_word(rest) != "cpu") return {};
  // user nice system idle iowait irq softirq steal; guest time is part of user.
  std::array<std::uint64_t, 8> ticks{};
  for (std::uint64_t& value : ticks) {
    if (!read_number(next_word(rest), value)) return {};
  }
  MachineCpu cpu;
  for (const std::uint64_t value : ticks) cpu.total += value;
  cpu.busy = cpu.total - ticks[3] - ticks[4];
  cpu.stolen = ticks[7];
  return cpu;
}

std::vector<std::int32_t> parse_pids(std::string_view text) {
  std::vector<std::int32_t> pids;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    std::int32_t pid = 0;
    if (read_number(word, pid) && pid > 0) pids.push_back(pid);
  }
  return pids;
}

}  // namespace fathom
