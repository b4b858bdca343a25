// SPDX-License-Identifier: MIT
// What the parts of a GPU did since the last look, by NVML's GPM: devices from Hopper on have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sources/resources/nvml.h"

namespace fathom::sources {

struct PartReading {
  std::string_view what, unit;
  double value = 0;
};

// For the thread that samples. NVML's functions must stay loaded as long as this.
class GpuParts {
 public:
  // The device makes new numbers ten times a second: what is closer together tells nothing.
  static constexpr std::int64_t kShortestNs = 200'000'000;

  // Nothing where the device has none.
  static std::optional<GpuParts> open(const Nvml& nvml, Nvml::Device device);

  // Nothing the first time, and where the device has nothing new.
  std::vector<PartReading> sample(std::int64_t monotonic_ns);

  // Whether it tells this, which then needs no other way.
  [[nodiscard]] static bool tells(std::string_view what);

 private:
  using Sample = std::unique_ptr<void, int (*)(Nvml::GpmSample)>;
  GpuParts(const Nvml& nvml, Nvml::Device device);
  double grown(std::size_t index, double per_second, std::int64_t ns);

  Nvml nvml_;
  Nvml::Device device_;
  Sample last_, next_;
  std::int64_t last_ns_ = 0;   // when last_ was taken; 0: never
  std::vector<double> bytes_;  // by metric, of those that are rates
};

}  // namespace fathom::sources
