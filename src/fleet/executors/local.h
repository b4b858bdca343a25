// SPDX-License-Identifier: MIT
// Work as processes of this machine, some at a time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "fleet/executors/executor.h"

namespace fathom::fleet {

// One thread at a time. submit() starts nothing: states() starts what has room, and takes the
// status of what has ended, so it has to be called again and again.
class LocalExecutor : public Executor {
 public:
  // `fathom`: the program that does the work.
  LocalExecutor(std::string fathom, std::size_t at_once);
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;
  // Nobody would wait for processes that are left: they are killed.
  ~LocalExecutor() override;

  Status submit(const std::vector<Work>& works, const std::vector<std::string>& after) override;
  Result<std::map<std::string, WorkState>> states() override;
  Status cancel(const std::string& id) override;
  Result<std::string> log(const std::string& id) override;

 private:
  struct Entry {
    std::string place;
    std::int64_t grace_ns = 0;
    pid_t worker = 0;  // 0: none, or it has ended
    WorkState state;
  };
  void start_next();
  void look_at(Entry& entry);

  std::string fathom_;
  std::size_t at_once_;
  std::size_t running_ = 0;
  std::map<std::string, Entry> entries_;
  std::deque<std::string> waiting_;
};

}  // namespace fathom::fleet
