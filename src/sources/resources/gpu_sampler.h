// SPDX-License-Identifier: MIT
// Reads once what GPUs do, and what processes have of them, by NVML. What a device cannot tell is
// asked once, and costs nothing else.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sources/resources/gpu_parts.h"
#include "sources/resources/nvml.h"

namespace fathom::sources {

struct GpuReading {
  std::string name;  // gpu<index>_<what>; the index is nvidia-smi's
  std::string_view unit;
  double value = 0;
  pid_t pid = 0;  // 0: of the device
};

// What is asked besides what is quick to read.
struct GpuDepth {
  bool thorough = false;  // energy, transfers, and what processes have
  bool parts = false;     // what the parts of a device did: not more often than GpuParts says
};

// One thread: the one that opened it.
class GpuSampler {
 public:
  // Nothing where there is no GPU that tells; `reason` says why. May take long: a driver that
  // nobody uses is started.
  static std::optional<GpuSampler> open(std::string& reason);
  GpuSampler(GpuSampler&& other) noexcept;
  GpuSampler& operator=(GpuSampler&&) = delete;
  ~GpuSampler();

  std::vector<GpuReading> sample(GpuDepth depth, const std::set<pid_t>& pids);

  // Names and identities of the devices, and what they do not tell.
  [[nodiscard]] std::map<std::string, std::string> facts() const;

 private:
  struct Gpu {
    Nvml::Device device = nullptr;
    unsigned index = 0;
    std::string name, uuid;
    bool lost = false;
    std::set<std::string_view> missing;  // what it does not tell
    std::uint64_t last_utilization = 0;  // of processes, us
    struct Counter {
      double last = 0, carried = 0;
    };
    std::map<std::string_view, Counter> counters;  // that begin again at 4 GiB
    std::optional<GpuParts> parts;
  };
  explicit GpuSampler(const Nvml& nvml) : nvml_(nvml) {}

  void find_gpus();
  void sample_gpu(Gpu& gpu, bool thorough);
  void sample_parts(Gpu& gpu);
  void sample_processes(Gpu& gpu, const std::set<pid_t>& pids);
  void sample_process_utilization(Gpu& gpu, const std::set<pid_t>& pids);
  static double unwrapped(Gpu& gpu, std::string_view what, double value);
  bool works(Gpu& gpu, std::string_view what, int result);
  std::optional<std::vector<Nvml::Process>> processes_of(Gpu& gpu);
  [[nodiscard]] bool is_same_process(pid_t pid) const;
  void add(const Gpu& gpu, std::string_view what, std::string_view unit, double value,
           pid_t pid = 0);

  Nvml nvml_;
  bool open_ = false;
  bool other_pids_ = false;    // numbers of processes may be those of another namespace
  bool unknown_pids_ = false;  // and there were such
  std::vector<Gpu> gpus_;
  std::vector<GpuReading> readings_;  // of the sample that is being taken
};

}  // namespace fathom::sources
