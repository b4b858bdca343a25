// SPDX-License-Identifier: MIT
// GPM gives differences between two samples. Rates are turned into growing byte counts, so that
// they behave like the other counters.
#include "sources/resources/gpu_parts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace fathom::sources {
namespace {

struct Part {
  unsigned id;  // NVML's
  std::string_view what;
  bool is_rate = false;  // MiB a second; else percent
};

constexpr Part kParts[] = {
    {2, "sm_busy"},    {3, "occupancy"},        {5, "tensor_busy"},
    {10, "dram_busy"}, {11, "fp64_busy"},       {12, "fp32_busy"},
    {13, "fp16_busy"}, {20, "pcie_sent", true}, {21, "pcie_received", true},
};
static_assert(std::size(kParts) <= std::size(Nvml::GpmMetrics{}.metrics));

constexpr double kMiB = 1 << 20;

// Two samples of the same numbers divide by no time.
bool is_new(const Nvml::GpmMetrics& told) {
  return std::all_of(std::begin(told.metrics), std::begin(told.metrics) + told.count,
                     [](const Nvml::GpmMetric& metric) {
                       return metric.result != Nvml::kSuccess || std::isfinite(metric.value);
                     });
}

Nvml::GpmSample allocate(const Nvml& nvml) {
  Nvml::GpmSample sample = nullptr;
  return nvml.gpm_allocate(&sample) == Nvml::kSuccess ? sample : nullptr;
}

}  // namespace

std::optional<GpuParts> GpuParts::open(const Nvml& nvml, Nvml::Device device) {
  if (nvml.gpm_support == nullptr || nvml.gpm_allocate == nullptr || nvml.gpm_free == nullptr ||
      nvml.gpm_sample == nullptr || nvml.gpm_metrics == nullptr)
    return std::nullopt;
  Nvml::GpmSupport support{1, 0};
  if (nvml.gpm_support(device, &support) != Nvml::kSuccess || support.supported == 0)
    return std::nullopt;
  GpuParts parts(nvml, device);
  if (!parts.last_ || !parts.next_) return std::nullopt;
  return parts;
}

GpuParts::GpuParts(const Nvml& nvml, Nvml::Device device)
    : nvml_(nvml),
      device_(device),
      last_(allocate(nvml), nvml.gpm_free),
      next_(allocate(nvml), nvml.gpm_free),
      bytes_(std::size(kParts)) {}

bool GpuParts::tells(std::string_view what) {
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [what](const Part& part) { return part.what == what; });
}

double GpuParts::grown(std::size_t index, double per_second, std::int64_t ns) {
  return bytes_[index] += std::max(per_second, 0.0) * kMiB * static_cast<double>(ns) / 1e9;
}

std::vector<PartReading> GpuParts::sample(std::int64_t monotonic_ns) {
  if (nvml_.gpm_sample(device_, next_.get()) != Nvml::kSuccess) return {};
  Nvml::GpmMetrics told{};
  told.version = 1;
  told.first = last_.get();
  told.second = next_.get();
  for (const Part& part : kParts) told.metrics[told.count++].id = part.id;
  const bool is_first = last_ns_ == 0;
  if (!is_first && (nvml_.gpm_metrics(&told) != Nvml::kSuccess || !is_new(told))) return {};
  const std::int64_t passed = monotonic_ns - last_ns_;
  std::swap(last_, next_);
  last_ns_ = monotonic_ns;
  if (is_first) return {};
  std::vector<PartReading> readings;
  for (std::size_t i = 0; i < std::size(kParts); i++) {
    const Nvml::GpmMetric& metric = told.metrics[i];
    if (metric.result != Nvml::kSuccess) continue;
    if (kParts[i].is_rate)
      readings.push_back({kParts[i].what, "bytes", grown(i, metric.value, passed)});
    else
      readings.push_back({kParts[i].what, "percent", metric.value});
  }
  return readings;
}

}  // namespace fathom::sources
