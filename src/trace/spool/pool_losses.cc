// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

constexpr std::array<const char*, FATHOM_SOURCES> kLayers = {"",       "app",  "stdio", "posix",
                                                             "python", "heap", "cuda",  "gpu"};

std::string reason_text(std::size_t source, std::size_t reason) {
  switch (reason) {
    case FATHOM_LOSS_NO_ROOM:
      return "no room in the spool";
    case FATHOM_LOSS_NESTED:
      return "too many signal handlers inside each other";
    case FATHOM_LOSS_TEXT_CUT:
      return "text cut short";
    case FATHOM_LOSS_UNBOUND:
      if (source == FATHOM_SOURCE_GPU) return "records that CUPTI had no room for";
      return source == FATHOM_SOURCE_PYTHON
                 ? "not told by this Python: loops before 3.12, C calls while the program profiles"
                 : "calls of an object could not be bound";
    case FATHOM_LOSS_TOO_DEEP:
      return "functions nested too deep";
    case FATHOM_LOSS_UNMATCHED:
      if (source == FATHOM_SOURCE_GPU) return "work that had not ended when its times were taken";
      return source == FATHOM_SOURCE_CUDA ? "memory that could not be kept account of"
                                          : "functions whose end was not seen";
    case FATHOM_LOSS_NOT_TRACED:
      return "interpreters that could not be traced";
    case FATHOM_LOSS_CAPPED:
      return "beyond the number asked for";
    case FATHOM_LOSS_SHARED_MEMORY:
      return "calls of children that share their parent's memory";
    case FATHOM_LOSS_CONFINED:
      return "no room left inside a sandbox";
    case FATHOM_LOSS_UNASKED:
      return "names and positions that could not be asked for inside a sandbox";
    default:
      return "reason " + std::to_string(reason);
  }
}

}  // namespace

void PoolLosses::add(const fathom_pool_header& header) {
  for (std::size_t source = 0; source < FATHOM_SOURCES; source++) {
    for (std::size_t reason = 0; reason < FATHOM_LOSS_REASONS_OF_POOLS; reason++) {
      counts_[source][reason] += __atomic_load_n(&header.losses[source][reason], __ATOMIC_RELAXED);
    }
  }
}

void PoolLosses::add(const fathom_run_shared& run) {
  for (std::size_t source = 0; source < FATHOM_SOURCES; source++) {
    for (std::size_t reason = 0; reason < FATHOM_LOSS_REASONS; reason++)
      counts_[source][reason] += run.losses[source][reason];
  }
  runs_ += run.runs;
}

void PoolLosses::add(std::span<const std::uint8_t> entry) {
  fathom_run_shared shared{};
  if (entry.size() == sizeof shared) {
    std::memcpy(&shared, entry.data(), sizeof shared);
    return add(shared);
  }
  fathom_pool_header header{};
  if (entry.size() != sizeof header.losses) return;
  std::memcpy(&header.losses, entry.data(), sizeof header.losses);
  add(header);
}

std::string PoolLosses::encode() const {
  fathom_run_shared shared{};
  shared.runs = runs_;
  for (std::size_t source = 0; source < FATHOM_SOURCES; source++)
    std::ranges::copy(counts_[source], shared.losses[source]);
  return {reinterpret_cast<const char*>(&shared), sizeof shared};
}

bool PoolLosses::any() const { return runs_ > 0 || !losses().empty(); }

std::uint64_t PoolLosses::dropped_events() const {
  std::uint64_t dropped = 0;
  for (const auto& of_source : counts_)
    dropped += of_source[FATHOM_LOSS_NO_ROOM] + of_source[FATHOM_LOSS_NESTED];
  return dropped;
}

std::vector<Loss> PoolLosses::losses() const {
  std::vector<Loss> losses;
  for (std::size_t source = 0; source < FATHOM_SOURCES; source++) {
    for (std::size_t reason = 0; reason < FATHOM_LOSS_REASONS; reason++) {
      const std::uint64_t count = counts_[source][reason];
      if (count == 0) continue;
      losses.push_back({kLayers[source], reason_text(source, reason),
                        static_cast<std::int64_t>(count & INT64_MAX)});
    }
  }
  return losses;
}

}  // namespace fathom::trace
