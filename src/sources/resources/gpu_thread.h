// SPDX-License-Identifier: MIT
// Samples GPUs in a thread of its own: the driver may take its time, and what the processes use is
// sampled all the same.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sources/resources/gpu_sampler.h"

namespace fathom::sources {

struct GpuSample {
  std::int64_t monotonic_ns = 0;
  std::vector<GpuReading> readings;
};

// For one thread.
class GpuThread {
 public:
  GpuThread();
  ~GpuThread();
  GpuThread(const GpuThread&) = delete;
  GpuThread& operator=(const GpuThread&) = delete;

  // Where there is no GPU, the thread ends at once and says nothing.
  void start(double hz);
  // Whose memory and time is told.
  void set_processes(std::set<pid_t> pids);
  // What was sampled since the last time.
  std::vector<GpuSample> drain();
  // After a last sample. A driver that does not answer is left behind after two seconds.
  void stop();
  [[nodiscard]] std::map<std::string, std::string> facts() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fathom::sources
