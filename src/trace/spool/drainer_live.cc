// SPDX-License-Identifier: MIT
// What lies in segments and is in no log yet, for readers of a run that goes on. Threads write
// there meanwhile, so the order in which words are read decides what may be concluded from them.
#include <cstdint>
#include <vector>

#include "trace/spool/drainer.h"

namespace fathom::trace {
namespace {

template <class T>
T load(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

}  // namespace

void Drainer::visit_owners(const std::function<void(std::uint64_t, const Pid&)>& visit) const {
  for (const auto& [path, pool] : pools_) {
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      const Pool::Claim claim = pool.claim(index);
      const std::uint64_t key = load(pool.segment(index).owner_key);
      const bool owned = claim.state != FATHOM_SEGMENT_FREE && claim.owner_pid != 0 && key != 0;
      if (owned && pool.claim(index).word == claim.word) visit(key, claim.owner());
    }
  }
}

void Drainer::visit_live(const std::function<void(const Chunk&)>& visit) {
  for (const auto& [path, pool] : pools_) {
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      if (pool.claim(index).state != FATHOM_SEGMENT_FREE) visit(chunk_of(pool, index));
    }
  }
}

// A thread that goes on in another segment has left the one before it full. So: how far each was
// filled, then which are full now. A segment that is not was its thread's last one when its filling
// was read, or later ones were not begun then.
std::vector<Drainer::LiveCopy> Drainer::copy_live() {
  struct Seen {
    const Pool* pool;
    std::uint32_t index;
    std::uint64_t progress;
  };
  std::vector<Seen> seen;
  for (const auto& [path, pool] : pools_) {
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      if (pool.claim(index).state != FATHOM_SEGMENT_FREE)
        seen.push_back({&pool, index, load(pool.segment(index).progress)});
    }
  }
  std::vector<LiveCopy> copies;
  for (const Seen& one : seen) {
    const fathom_segment& segment = one.pool->segment(one.index);
    const bool full = one.pool->claim(one.index).state == FATHOM_SEGMENT_FULL;
    const auto bytes = one.pool->records(one.index, full ? load(segment.progress) : one.progress);
    copies.push_back({std::vector<std::uint8_t>(bytes.begin(), bytes.end()),
                      spool_->schema(one.pool->header().schema_hash)});
  }
  return copies;
}

Drainer::LiveState Drainer::live_state() const {
  LiveState state;
  for (const auto& [path, pool] : pools_) {
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      const std::uint32_t of_segment = pool.claim(index).state;
      if (of_segment == FATHOM_SEGMENT_FREE) continue;
      state.full |= of_segment == FATHOM_SEGMENT_FULL;
      state.bytes += 1 + static_cast<std::uint32_t>(load(pool.segment(index).progress));
    }
  }
  return state;
}

}  // namespace fathom::trace
