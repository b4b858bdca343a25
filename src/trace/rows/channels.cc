// SPDX-License-Identifier: MIT
// Texts come from programs: whatever does not look like a pipe's name is left as it is.
#include "trace/rows/channels.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "trace/rows/definitions.h"

namespace fathom::trace {
namespace {

constexpr std::string_view kFrom = "pipe from [";
constexpr std::string_view kTo = "pipe to [";
constexpr std::string_view kBoth = "pipe [";

// "pipe from [4711] /run/fifo"
struct PipeEnd {
  bool reads = false;
  bool writes = false;
  std::string_view number;
  std::string_view path;

  explicit PipeEnd(std::string_view words) {
    std::size_t begin = 0;
    for (const std::string_view prefix : {kFrom, kTo, kBoth}) {
      if (words.starts_with(prefix)) begin = prefix.size();
    }
    const std::size_t end = words.find(']');
    if (begin == 0 || end == std::string_view::npos) return;
    number = words.substr(begin, end - begin);
    reads = !words.starts_with(kTo);
    writes = !words.starts_with(kFrom);
    if (end + 2 < words.size()) path = words.substr(end + 2);
  }
  [[nodiscard]] bool is_one() const { return !number.empty(); }
};

}  // namespace

std::string user_text(std::string_view program, std::int64_t pid) {
  return fmt::format("{} (pid {})", program.empty() ? "a program" : program, pid);
}

std::string channel_text(std::string_view words, std::string_view user) {
  const PipeEnd end(words);
  if (!end.is_one()) return std::string(words);
  const std::string_view other = user.empty() ? end.path : user;
  if (other.empty()) return "pipe";
  return fmt::format("pipe {}{}",
                     end.reads && end.writes ? ""
                     : end.reads             ? "from "
                                             : "to ",
                     other);
}

bool PipeUsers::add(std::string_view words, const Process& process) {
  const PipeEnd end(words);
  if (!end.is_one()) return false;
  const std::string number(end.number);
  if (pipes_.size() >= kMostPipes && !pipes_.contains(number)) return false;
  Ends& ends = pipes_[number];
  bool told = false;
  const auto note = [&](std::vector<const Process*>& users) {
    if (users.size() >= kMostUsers || std::ranges::find(users, &process) != users.end()) return;
    users.push_back(&process);
    told = true;
  };
  if (end.reads) note(ends.readers);
  if (end.writes) note(ends.writers);
  return told;
}

const Process* PipeUsers::other_end(std::string_view words, const Process& process) const {
  const PipeEnd end(words);
  const auto found = pipes_.find(std::string(end.number));
  if (!end.is_one() || found == pipes_.end()) return nullptr;
  const auto& users = end.reads && !end.writes ? found->second.writers : found->second.readers;
  // Definitions come in any order; the answer must not depend on it.
  const auto rank = [&](const Process* user) {
    return std::tuple(user->pid == process.pid, user->start_tick, user->key);
  };
  const auto first = std::ranges::min_element(users, {}, rank);
  return first == users.end() ? nullptr : *first;
}

}  // namespace fathom::trace
