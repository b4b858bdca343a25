// SPDX-License-Identifier: MIT
// Work as tasks of arrays of Slurm. What a task came to is read from its place, which all nodes
// must see: Slurm itself may take minutes to notice that a node is gone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fleet/executors/executor.h"
#include "fleet/executors/slurm_text.h"

namespace fathom::fleet {

struct SlurmOptions {
  std::string partition, account, time, memory;  // as sbatch reads them; "": its default
  std::int64_t cpus = 0;                         // of a task
  std::int64_t at_once = 0;                      // tasks of an array that may run; 0: all
  bool exclusive = false;                        // a node for each task
  bool requeue = false;  // Slurm begins a task again by itself where a node fails
  // Without a sign of life for so long, a running task is lost.
  std::int64_t lease_ns = 60'000'000'000;
};

// One thread at a time; most calls run a tool of Slurm and wait for it. Tasks that were not
// cancelled go on when this is gone.
class SlurmExecutor : public Executor {
 public:
  // `folder`: for the scripts of arrays. `fathom`: the program as nodes see it.
  SlurmExecutor(std::string fathom, std::string folder, SlurmOptions options);

  // Whether there is a Slurm that answers.
  [[nodiscard]] static Status check();
  Status submit(const std::vector<Work>& works, const std::vector<std::string>& after) override;
  [[nodiscard]] bool orders_work() const override { return true; }
  [[nodiscard]] int poll_ms() const override { return 2000; }
  void replaced(const std::string& lost, const std::string& again) override;
  Result<std::map<std::string, WorkState>> states() override;
  Status cancel(const std::string& id) override;
  Result<std::string> log(const std::string& id) override;

 private:
  struct Entry {
    std::string place;
    std::string task;  // "JOB_TASK"
    std::vector<std::string> after;
    WorkState state;
    std::int64_t beat = 0;
    std::int64_t beat_ns = 0;  // when it was seen to be another
    std::int64_t gone_ns = 0;  // since when Slurm has not had it; 0: it has
  };
  Result<std::string> write_script(const std::vector<Work>& works);
  [[nodiscard]] std::vector<std::string> sbatch_words(const std::vector<Work>& works,
                                                      const std::vector<std::string>& after) const;
  [[nodiscard]] std::string dependency_of(const std::vector<std::string>& after) const;
  void look_at(Entry& entry, const std::map<std::string, SlurmTask>& tasks);
  void look_at_gone(Entry& entry);
  void look_at_running(Entry& entry);

  std::string fathom_;
  std::string folder_;
  SlurmOptions options_;
  std::size_t arrays_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace fathom::fleet
