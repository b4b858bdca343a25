// SPDX-License-Identifier: MIT
// Reads lines as perf does: the name is the rest of the line, with its spaces.
#include "symbols/perf_map.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "symbols/plain_file.h"

namespace fathom::symbols {
namespace {

constexpr std::size_t kMostBytes = 256ULL << 20;

std::optional<std::uint64_t> take_hex(std::string_view& line) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t number = 0;
  const auto read = std::from_chars(line.data(), line.data() + line.size(), number, 16);
  if (read.ec != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
  if (!line.starts_with(' ')) return std::nullopt;
  line.remove_prefix(1);
  return number;
}

// A word of a line of /proc/PID/status.
std::optional<std::int64_t> status_word(const std::string& status, std::string_view key,
                                        std::size_t index) {
  const std::size_t at = status.find(key);
  if (at == std::string::npos) return std::nullopt;
  std::string_view line = std::string_view(status).substr(at + key.size());
  line = trim(line.substr(0, std::min(line.find('\n'), line.size())));
  const std::vector<std::string_view> words = split(line, '\t');
  if (words.empty()) return std::nullopt;
  const Result<std::int64_t> number = parse_int(words[std::min(index, words.size() - 1)]);
  return number ? std::optional(*number) : std::nullopt;
}

}  // namespace

PerfMap PerfMap::parse(std::string text) {
  PerfMap map;
  map.text_ = std::make_unique<std::string>(std::move(text));
  std::string_view left = *map.text_;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    std::string_view line = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    const std::uint64_t begin = take_hex(line).value_or(0);
    const std::uint64_t size = take_hex(line).value_or(0);
    line = trim(line);
    if (begin != 0 && !line.empty() && begin + size > begin)
      map.names_.put(begin, begin + size, line);
  }
  return map;
}

Result<PerfMap> PerfMap::open(const std::string& folder, pid_t inner_pid, uid_t owner) {
  const std::string path = folder + "/perf-" + std::to_string(inner_pid) + ".map";
  FATHOM_ASSIGN(std::string text, read_plain_file(path, owner, kMostBytes));
  return parse(std::move(text));
}

Result<PerfMap> PerfMap::of_process(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  FATHOM_ASSIGN(const std::string status, read_file(process + "/status"));
  constexpr std::size_t kLast = 64;
  constexpr std::size_t kEffective = 1;
  const auto inner = status_word(status, "\nNSpid:", kLast);
  const auto owner = status_word(status, "\nUid:", kEffective);
  if (!owner) return Error{Code::kNotFound, "no such process", ""};
  return open(process + "/root/tmp", static_cast<pid_t>(inner.value_or(pid)),
              static_cast<uid_t>(*owner));
}

std::string_view PerfMap::find(std::uint64_t address) const {
  const auto found = names_.find(address);
  return found ? *found->value : std::string_view();
}

}  // namespace fathom::symbols
