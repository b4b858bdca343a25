// SPDX-License-Identifier: MIT
// Samples as packets of Perfetto's trace: PerfSample, with functions, modules and stacks interned.
// Each event that was sampled is a sequence of packets of its own, since its name is a default of
// the sequence. Memory grows with distinct functions and stacks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "render/export/event_stream.h"

namespace fathom::render {

// Owns what its sequences have interned. Names go out before the first sample that needs them, so
// packets must be written in the order in which they were made. One thread.
class PerfettoSamples {
 public:
  // Times are those of the recording plus `start_ns`; sequences are numbered from `first_sequence`.
  PerfettoSamples(std::int64_t start_ns, std::uint32_t first_sequence);
  ~PerfettoSamples();

  // Adds the sample's packet, and what it needs before it, to `trace`.
  void add(const ExportSample& sample, std::string& trace);

 private:
  class Sequence;
  std::int64_t start_ns_;
  std::uint32_t next_sequence_;
  std::map<std::string, std::unique_ptr<Sequence>, std::less<>> sequences_;
};

}  // namespace fathom::render
