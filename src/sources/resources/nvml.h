// SPDX-License-Identifier: MIT
// NVIDIA's library that tells what GPUs do (libnvidia-ml.so.1), as far as it is asked here: opened
// at run time, with declarations of our own. Never in the recorded program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace fathom::sources {

struct Nvml {
  using Device = void*;
  enum Result : int {
    kSuccess = 0,
    kNotSupported = 3,
    kNotFound = 6,
    kInsufficientSize = 7,
    kNoFunction = 13,
    kGpuIsLost = 15,
  };
  static constexpr std::uint64_t kNoValue = UINT64_MAX;

  struct Utilization {
    unsigned gpu, memory;
  };
  struct Memory {  // the second version
    unsigned version;
    std::uint64_t total, reserved, free, used;
  };
  struct OldMemory {
    std::uint64_t total, free, used;
  };
  struct Temperature {
    unsigned version, sensor;
    int degrees;
  };
  struct Process {  // the second and third version
    unsigned pid;
    std::uint64_t memory;
    unsigned gpu_instance, compute_instance;
  };
  struct OldProcess {
    unsigned pid;
    std::uint64_t memory;
  };
  struct ProcessUtilization {
    unsigned pid;
    std::uint64_t timestamp;  // us
    unsigned sm, memory, encoder, decoder;
  };
  struct Field {
    unsigned id, scope;
    std::int64_t timestamp, latency;
    int type, result;
    union {
      double real;
      unsigned small;
      std::uint64_t whole;
    } value;
  };

  // GPM: what parts of a device did between two samples of it.
  using GpmSample = void*;
  struct GpmSupport {
    unsigned version, supported;
  };
  struct GpmMetric {
    unsigned id;
    int result;
    double value;
    const char *short_name, *long_name, *unit;
  };
  struct GpmMetrics {  // as many of the metrics as counted are looked at
    unsigned version, count;
    GpmSample first, second;
    GpmMetric metrics[16];
  };

  // Each nullptr where the library has no such function.
  int (*init)();
  int (*shutdown)();
  int (*count)(unsigned*);
  int (*handle)(unsigned, Device*);
  int (*name)(Device, char*, unsigned);
  int (*uuid)(Device, char*, unsigned);
  int (*driver_version)(char*, unsigned);
  int (*utilization)(Device, Utilization*);
  int (*memory)(Device, Memory*);
  int (*old_memory)(Device, OldMemory*);
  int (*power)(Device, unsigned*);
  int (*energy)(Device, unsigned long long*);
  int (*temperature)(Device, int, unsigned*);
  int (*temperature_v)(Device, Temperature*);
  int (*clock)(Device, int, unsigned*);
  int (*fields)(Device, int, Field*);
  int (*processes)(Device, unsigned*, Process*);
  int (*old_processes)(Device, unsigned*, OldProcess*);
  int (*process_utilization)(Device, ProcessUtilization*, unsigned*, unsigned long long);
  int (*clock_reasons)(Device, unsigned long long*);
  int (*gpm_support)(Device, GpmSupport*);
  int (*gpm_allocate)(GpmSample*);
  int (*gpm_free)(GpmSample);
  int (*gpm_sample)(Device, GpmSample);
  int (*gpm_metrics)(GpmMetrics*);

  // Of the library that the loader finds; nothing where there is none, or it has not the least that
  // is needed. It stays loaded: some versions of it do not bear being unloaded.
  static std::optional<Nvml> load();
};

static_assert(sizeof(Nvml::Memory) == 40 && sizeof(Nvml::Process) == 24 &&
              sizeof(Nvml::OldProcess) == 16 && sizeof(Nvml::ProcessUtilization) == 32 &&
              sizeof(Nvml::Field) == 40 && offsetof(Nvml::Field, value) == 32 &&
              sizeof(Nvml::GpmMetric) == 40 && offsetof(Nvml::GpmMetrics, metrics) == 24);

}  // namespace fathom::sources
