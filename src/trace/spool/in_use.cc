// SPDX-License-Identifier: MIT
// Asks locks and living owners in turn, because an unsupervised run has no recorder that holds a
// lock.
#include "trace/spool/in_use.h"

#include "trace/decode/definer.h"
#include "trace/spool/liveness.h"
#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

template <class T>
T load(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

bool is_locked(const Directory& spool) {
  const Result<std::optional<FileLock>> got = FileLock::look(spool, kLockFile);
  return got && !got->has_value();
}

bool has_living_owner(const Pool& pool, const Liveness& liveness) {
  for (std::uint32_t index = 0; index < pool.count(); index++) {
    const fathom_segment& segment = pool.segment(index);
    const Pool::Claim claim = pool.claim(index);
    if (claim.state == FATHOM_SEGMENT_FREE || claim.owner_pid == 0) continue;
    const RunHead head = first_switch({pool.records(index, load(segment.progress)), nullptr});
    const std::uint64_t key = load(segment.owner_key);
    if (liveness.alive(claim.owner(), key, head.key == key ? head.tick : 0)) return true;
  }
  return false;
}

bool has_living_programs(const Spool& spool) {
  const Result<std::vector<std::string>> paths = spool.pool_paths();
  if (!paths) return false;
  const Liveness liveness(spool.header(), Clock::of(spool.header()));
  for (const std::string& path : *paths) {
    const Result<Pool> pool = Pool::open(spool.files(), base_name(path), false);
    if (!pool) continue;
    const fathom_pool_header& header = pool->header();
    if (has_living_owner(*pool, liveness) ||
        liveness.life_since(pool->creator(), load(header.creator_key), pool->made_realtime_ns()) !=
            Life::kGone)
      return true;
  }
  return false;
}

}  // namespace

std::string writers_of(const std::string& directory) {
  const Result<Directory> place = Directory::open_beneath(join_path(directory, kSpoolDirectory));
  if (!place) return "";
  if (is_locked(*place)) return "is being recorded";
  const Result<Spool> spool = Spool::open(*place);
  if (!spool) return "";
  if (spool->recorded_elsewhere()) return "is being recorded on another machine";
  return has_living_programs(*spool) ? "is being written by running programs" : "";
}

}  // namespace fathom::trace
