// SPDX-License-Identifier: MIT
// Texts come from programs: whatever does not look like a pipe's name is left as it is.
#include "trace/rows/channels.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "trace/rows/definitions.h"

namespace fathom::trace {
namespace {

constexpr std::string_view kFrom = "pipe from [";
constexpr std::string_view kTo = "pipe to [";
constexpr std::string_view kBoth = "pipe [";
constexpr std::string_view kMovedFrom = "moved from [";
constexpr std::string_view kMovedTo = "moved to [";

// "pipe from [4711] /run/fifo", or "moved from [4711]" of one whom bytes reached
struct PipeEnd {
  bool reads = false;
  bool writes = false;
  bool moved = false;
  std::string_view number;
  std::string_view path;

  explicit PipeEnd(std::string_view words) {
    std::size_t begin = 0;
    for (const std::string_view prefix : {kFrom, kTo, kBoth, kMovedFrom, kMovedTo}) {
      if (words.starts_with(prefix)) begin = prefix.size();
    }
    const std::size_t end = words.find(']');
    if (begin == 0 || end == std::string_view::npos) return;
    number = words.substr(begin, end - begin);
    reads = !words.starts_with(kTo) && !words.starts_with(kMovedTo);
    writes = !words.starts_with(kFrom) && !words.starts_with(kMovedFrom);
    moved = words.starts_with(kMovedFrom) || words.starts_with(kMovedTo);
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

std::string users_text(const PipeUsers::Other& other, std::string_view program) {
  if (other.first == nullptr) return "";
  if (other.processes >= PipeUsers::kMostMovers) return "many processes";
  if (other.processes > 1) return fmt::format("{} processes", other.processes);
  return user_text(program, other.first->pid);
}

bool PipeUsers::add(std::string_view words, const Process& process) {
  const PipeEnd end(words);
  if (!end.is_one()) return false;
  const std::string number(end.number);
  if (pipes_.size() >= kMostPipes && !pipes_.contains(number)) return false;
  Ends& ends = pipes_[number];
  bool told = false;
  const auto note = [&](std::vector<const Process*>& users, std::size_t most) {
    if (users.size() >= most || std::ranges::find(users, &process) != users.end()) return;
    users.push_back(&process);
    told = true;
  };
  const auto note_in = [&](Users& users) {
    if (end.moved) {
      note(users.movers, kMostMovers);
    } else {
      note(users.all, kMostUsers);
    }
  };
  if (end.reads) note_in(ends.readers);
  if (end.writes) note_in(ends.writers);
  return told;
}

PipeUsers::Other PipeUsers::other_end(std::string_view words, const Process& process) const {
  const PipeEnd end(words);
  const auto found = pipes_.find(std::string(end.number));
  if (!end.is_one() || found == pipes_.end()) return {};
  const Users& users = end.reads && !end.writes ? found->second.writers : found->second.readers;
  const std::vector<const Process*>& meant = users.movers.empty() ? users.all : users.movers;
  // Definitions come in any order; the answer must not depend on it.
  const auto rank = [&](const Process* user) {
    return std::tuple(user->pid == process.pid, user->start_tick, user->key);
  };
  const auto first = std::ranges::min_element(meant, {}, rank);
  if (first == meant.end()) return {};
  if (users.movers.empty()) return {*first, 1};
  std::set<std::int64_t> pids;
  for (const Process* mover : users.movers) pids.insert(mover->pid);
  return {*first, users.movers.size() < kMostMovers ? pids.size() : kMostMovers};
}

}  // namespace fathom::trace
