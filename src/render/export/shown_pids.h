// SPDX-License-Identifier: MIT
// Numbers of processes for formats that know no machines: where two of them gave away the same pid,
// the second process is shown under a number that no kernel gives away.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "render/export/event_stream.h"

namespace fathom::render {

// One thread at a time.
class ShownPids {
 public:
  // A row without a host is of no other machine.
  [[nodiscard]] std::int64_t of(std::string_view host, std::int64_t pid) {
    if (host.empty()) return pid;
    if (last_ != nullptr && last_->first.second == pid && last_->first.first == host)
      return last_->second;
    const auto [found, is_new] = pids_.try_emplace({std::string(host), pid}, pid);
    if (is_new && !taken_.insert(pid).second) found->second = kFirst + others_++;
    last_ = &*found;
    return found->second;
  }

  // The process's name, with its true number where it is shown under another.
  [[nodiscard]] std::string name(const ExportProcess& process) {
    return name(process.host, process.pid,
                std::string(process.name.empty() ? process.command : process.name));
  }
  [[nodiscard]] std::string name(std::string_view host, std::int64_t pid, std::string name) {
    if (of(host, pid) == pid) return name;
    return std::move(name) + " (" + std::to_string(pid) + " on " + std::string(host) + ")";
  }

 private:
  using Pids = std::map<std::pair<std::string, std::int64_t>, std::int64_t>;
  static constexpr std::int64_t kFirst = std::int64_t{1} << 23U;  // beyond Linux's largest
  Pids pids_;
  std::set<std::int64_t> taken_;
  std::int64_t others_ = 0;
  const Pids::value_type* last_ = nullptr;  // rows of a process come one after the other
};

}  // namespace fathom::render
