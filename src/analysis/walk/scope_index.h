// SPDX-License-Identifier: MIT
// Numbers for the parts of a run that are looked at on their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/walk/thread_walk.h"

namespace fathom::analysis {

// The run, a host, a process, a thread: so many of host, pid and tid tell it apart.
class ScopeIndex {
 public:
  static constexpr std::size_t kLevels = 4;
  static constexpr std::array<std::string_view, kLevels> kNames = {"run", "host", "process",
                                                                   "thread"};
  struct Scope {
    std::size_t level;
    WalkThread who;  // as far as the level goes
  };
  // The scopes that a thread is in, the run first.
  using Of = std::array<std::uint32_t, kLevels>;

  Of add(const WalkThread& thread) {
    Of of{};
    WalkThread part;
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (level == 1) part.host = thread.host;
      if (level == 2) part.pid = thread.pid;
      if (level == 3) part.tid = thread.tid;
      const auto next = static_cast<std::uint32_t>(scopes_.size());
      const auto [found, fresh] = known_.try_emplace({level, part.host, part.pid, part.tid}, next);
      if (fresh) scopes_.push_back({level, part});
      of[level] = found->second;
    }
    return of;
  }
  [[nodiscard]] const std::vector<Scope>& scopes() const { return scopes_; }

 private:
  using Key = std::tuple<std::size_t, std::optional<std::string>, std::optional<std::int64_t>,
                         std::optional<std::int64_t>>;
  std::map<Key, std::uint32_t> known_;
  std::vector<Scope> scopes_;
};

}  // namespace fathom::analysis
