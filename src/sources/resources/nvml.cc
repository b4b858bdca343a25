// SPDX-License-Identifier: MIT
// Binds NVML by dlopen with declarations of our own, so that building needs no CUDA. Newer versions
// of a function are tried first.
#include "sources/resources/nvml.h"

#include <dlfcn.h>

#include <initializer_list>

namespace fathom::sources {
namespace {

// The first of these names that the library has: newer versions of a function stand first where
// they take the same arguments.
template <class Function>
void find(void* library, Function& function, std::initializer_list<const char*> names) {
  function = nullptr;
  for (const char* name : names) {
    if (void* found = dlsym(library, name); found != nullptr) {
      function = reinterpret_cast<Function>(found);
      return;
    }
  }
}

}  // namespace

std::optional<Nvml> Nvml::load() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Nvml nvml{};
  find(library, nvml.init, {"nvmlInit_v2", "nvmlInit"});
  find(library, nvml.shutdown, {"nvmlShutdown"});
  find(library, nvml.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(library, nvml.handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find(library, nvml.name, {"nvmlDeviceGetName"});
  find(library, nvml.uuid, {"nvmlDeviceGetUUID"});
  find(library, nvml.driver_version, {"nvmlSystemGetDriverVersion"});
  find(library, nvml.utilization, {"nvmlDeviceGetUtilizationRates"});
  find(library, nvml.memory, {"nvmlDeviceGetMemoryInfo_v2"});
  find(library, nvml.old_memory, {"nvmlDeviceGetMemoryInfo"});
  find(library, nvml.power, {"nvmlDeviceGetPowerUsage"});
  find(library, nvml.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(library, nvml.temperature, {"nvmlDeviceGetTemperature"});
  find(library, nvml.temperature_v, {"nvmlDeviceGetTemperatureV"});
  find(library, nvml.clock, {"nvmlDeviceGetClockInfo"});
  find(library, nvml.fields, {"nvmlDeviceGetFieldValues"});
  find(library, nvml.processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  find(library, nvml.old_processes, {"nvmlDeviceGetComputeRunningProcesses"});
  find(library, nvml.process_utilization, {"nvmlDeviceGetProcessUtilization"});
  find(library, nvml.clock_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(library, nvml.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  find(library, nvml.gpm_allocate, {"nvmlGpmSampleAlloc"});
  find(library, nvml.gpm_free, {"nvmlGpmSampleFree"});
  find(library, nvml.gpm_sample, {"nvmlGpmSampleGet"});
  find(library, nvml.gpm_metrics, {"nvmlGpmMetricsGet"});
  if (nvml.init == nullptr || nvml.shutdown == nullptr || nvml.count == nullptr ||
      nvml.handle == nullptr)
    return std::nullopt;
  return nvml;
}

}  // namespace fathom::sources
