// SPDX-License-Identifier: MIT
// When threads were in I/O and when they computed, and what of it overlaps, in one pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/store.h"
#include "analysis/walk/thread_walk.h"
#include "base/result.h"

namespace fathom::analysis {

// What an event counts as.
enum class WorkKind : std::uint8_t {
  kOther,
  kIo,        // stdio and posix, but for waiting and processes
  kRegionIo,  // a region whose category says so
  kCompute,   // other regions and functions, and what GPUs do
};
[[nodiscard]] WorkKind work_kind_of(const WalkKind& kind);

// Table `overlap_times`: scope (run, host, process, thread), host, pid, tid, busy, app_io,
// unoverlapped_app_io, posix_io, unoverlapped_posix_io, compute, unoverlapped_compute. What a GPU
// does belongs to no thread: its tid is NULL.
Status make_overlap(Store& store);

}  // namespace fathom::analysis
