// SPDX-License-Identifier: MIT
// Lengths are read first, of all segments, then bytes: a row lies below the first reading, so
// whatever it refers to was written before and is found in the second.
#include "trace/spool/segment_copies.h"

#include <algorithm>
#include <string>
#include <utility>

#include "trace/decode/definer.h"
#include "trace/spool/pool_file.h"

namespace fathom::trace {
namespace {

constexpr std::size_t kMostCopied = std::size_t{256} << 20;

struct Measured {
  std::size_t pool;
  ChunkName name;
  std::size_t bytes;
};

std::vector<PoolFile> open_pools(Spool& spool, PoolLosses& losses) {
  std::vector<PoolFile> pools;
  const Result<std::vector<std::string>> paths = spool.pool_paths();
  if (!paths) return pools;
  for (const std::string& path : *paths) {
    const std::string name(base_name(path));
    Result<PoolFile> pool = PoolFile::open(spool.files(), name);
    if (!pool || !spool.why_not_ours(pool->header(), name).empty()) continue;
    losses.add(pool->header());
    losses.add(pool->shared());
    pools.push_back(std::move(pool).value());
  }
  return pools;
}

std::vector<Measured> measure(const std::vector<PoolFile>& pools) {
  std::vector<Measured> all;
  for (std::size_t at = 0; at < pools.size(); at++) {
    const PoolFile& pool = pools[at];
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      fathom_segment segment{};
      if (!pool.read_segment(index, segment)) break;
      if (fathom_claim_state(segment.claim) == FATHOM_SEGMENT_FREE) continue;
      all.push_back(
          {at, {pool.name_hash(), index, segment.generation}, pool.records_size(segment.progress)});
    }
    pool.close();
  }
  return all;
}

std::optional<CallInFlight> call_in(const fathom_segment& segment, std::uint64_t schema) {
  const Pool::Claim claim = Pool::Claim::of(segment.claim);
  const auto kind = static_cast<std::uint32_t>(segment.progress >> 32);
  if (kind == 0 || claim.state == FATHOM_SEGMENT_FULL || claim.owner_pid == 0) return std::nullopt;
  return CallInFlight{claim.owner_pid,
                      segment.owner_tid,
                      segment.owner_key,
                      kind,
                      segment.in_call_since,
                      schema,
                      true};
}

// Nothing where it was drained and used again meanwhile: a log has it.
std::optional<SegmentCopy> copy(Spool& spool, const PoolFile& pool, const Measured& measured) {
  fathom_segment segment{};
  const std::uint32_t index = measured.name.index;
  if (!pool.read_segment(index, segment) || segment.generation != measured.name.generation)
    return std::nullopt;
  SegmentCopy copy;
  copy.name = measured.name;
  copy.schema = spool.schema(pool.header().schema_hash);
  const std::size_t all = std::max(measured.bytes, pool.records_size(segment.progress));
  (void)pool.read_records(index, all, copy.bytes);  // fewer where the file was cut
  copy.rows_bytes = std::min(measured.bytes, copy.bytes.size());
  copy.call = call_in(segment, pool.header().schema_hash);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  pool.close();
  fathom_segment later{};
  if (!pool.read_segment(index, later) || later.generation != measured.name.generation)
    return std::nullopt;
  return copy;
}

}  // namespace

SegmentCopies copy_segments(Spool& spool) {
  SegmentCopies copies;
  PoolLosses losses;
  losses.add(spool.shared());
  const std::vector<PoolFile> pools = open_pools(spool, losses);
  std::size_t copied = 0;
  for (const Measured& measured : measure(pools)) {
    if (measured.bytes == 0) continue;
    if (copied + measured.bytes > kMostCopied) {
      copies.left_out++;
      continue;
    }
    std::optional<SegmentCopy> one = copy(spool, pools[measured.pool], measured);
    if (!one) continue;
    copied += one->bytes.size();
    copies.segments.push_back(std::move(*one));
  }
  copies.lost = losses.dropped_events();
  std::ranges::stable_sort(copies.segments, [](const SegmentCopy& a, const SegmentCopy& b) {
    return drain_order(first_switch(a.rows())) < drain_order(first_switch(b.rows()));
  });
  return copies;
}

}  // namespace fathom::trace
