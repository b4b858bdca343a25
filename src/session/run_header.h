// SPDX-License-Identifier: MIT
// spool/run.header: what every process of the run reads when it attaches (docs/formats/spool.md).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "trace/spool/spool.h"

namespace fathom::session {

// What the run's header says to all its processes.
struct HeaderOptions {
  std::uint64_t spool_max = 0;  // 0: the smaller of 4 GiB and half of what is free
  bool block_when_full = false;
  std::int64_t interval_ns = 1'000'000'000;  // of calls that are added up
  // Where ts is 0, by the monotonic clock, which is the run's clock then; 0: now.
  std::int64_t start_monotonic_ns = 0;
};

// FATHOM_TICK_COUNTER where the CPU's counter runs at one speed on all cores, else
// FATHOM_TICK_MONOTONIC_NS.
[[nodiscard]] std::uint32_t choose_tick_source();

// Why the counter is or is not used, for `doctor`: "counter (tsc, invariant)".
[[nodiscard]] std::string describe_tick_source();

// Makes the spool in the recording's directory with its header; the run starts now. On failure the
// directory of the spool may be left, without a header: the caller removes the recording.
Result<fathom_run_header> make_spool(const std::string& directory, const HeaderOptions& options);

}  // namespace fathom::session
