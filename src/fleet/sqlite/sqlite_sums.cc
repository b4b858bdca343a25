// SPDX-License-Identifier: MIT
// Counters are numbered per job, and their sums lie in blocks of one row each. Adding a batch
// changes blocks in memory; write() stores each changed block once per transaction.
#include "fleet/sqlite/sqlite_sums.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "fleet/checks.h"

namespace fathom::fleet {
namespace {

static_assert(std::endian::native == std::endian::little, "blocks lie in the file as in memory");

// Names come from agents: with a known key somebody could choose some that meet in the table.
// Without random numbers the key is zero, which costs that protection alone.
Hash128 random_key() {
  Hash128 key;
  if (::getrandom(&key, sizeof key, 0) != sizeof key) key = {};
  return key;
}

std::string_view as_bytes(const SumBlock& block) {
  return {reinterpret_cast<const char*>(block.data()), sizeof block};
}

}  // namespace

SqliteSums::SqliteSums(Statement counters, Statement find, Statement insert, Statement read,
                       Statement put, Statement set_counters)
    : counters_(std::move(counters)),
      find_(std::move(find)),
      insert_(std::move(insert)),
      read_(std::move(read)),
      put_(std::move(put)),
      set_counters_(std::move(set_counters)),
      key_(random_key()) {}

Result<std::unique_ptr<SqliteSums>> SqliteSums::make(const Database& database, std::size_t most) {
  const auto prepare = [&](const char* sql) { return Statement::prepare(database, sql); };
  FATHOM_ASSIGN(Statement counters, prepare("SELECT counters FROM jobs WHERE id = ?"));
  FATHOM_ASSIGN(Statement find, prepare("SELECT slot FROM counters WHERE job = ? AND node = ? AND "
                                        "exec = ? AND event = ?"));
  FATHOM_ASSIGN(Statement insert, prepare("INSERT INTO counters (job, node, exec, event, slot) "
                                          "VALUES (?, ?, ?, ?, ?)"));
  FATHOM_ASSIGN(Statement read, prepare("SELECT counts FROM sums WHERE job = ? AND block = ?"));
  FATHOM_ASSIGN(Statement put, prepare("INSERT INTO sums (job, block, counts) VALUES (?, ?, ?) "
                                       "ON CONFLICT DO UPDATE SET counts = excluded.counts"));
  FATHOM_ASSIGN(Statement set, prepare("UPDATE jobs SET counters = ?2 WHERE id = ?1"));
  std::unique_ptr<SqliteSums> sums(new SqliteSums(std::move(counters), std::move(find),
                                                  std::move(insert), std::move(read),
                                                  std::move(put), std::move(set)));
  sums->most_ = most;
  return sums;
}

// Reads how many counters the job has, and none of them: blocks come when a batch first needs them.
Result<SqliteSums::JobSums*> SqliteSums::sums_of(std::int64_t job) {
  auto found = jobs_.find(job);
  if (found == jobs_.end()) {
    FATHOM_TRY(counters_.bind(1, job).step());
    JobSums sums;
    sums.counters = counters_.number(0);
    counters_.reset();
    const std::size_t blocks =
        (static_cast<std::size_t>(sums.counters) + kSumsInBlock - 1) / kSumsInBlock;
    sums.blocks.resize(blocks);
    sums.is_loaded.resize(blocks);
    sums.is_changed.resize(blocks);
    found = jobs_.emplace(job, std::move(sums)).first;
  }
  found->second.used = ++batches_;
  return &found->second;
}

Status SqliteSums::load_block(std::int64_t job, JobSums& sums, std::uint32_t block) {
  FATHOM_ASSIGN(const bool found, read_.bind(1, job).bind(2, std::int64_t{block}).step());
  const std::string_view bytes = found ? read_.bytes(0) : std::string_view();
  const bool is_whole = bytes.size() == sizeof(SumBlock);
  if (is_whole) std::memcpy(sums.blocks[block].data(), bytes.data(), bytes.size());
  read_.reset();
  if (!is_whole) return Error{Code::kCorrupt, "a block of sums in the store is damaged", ""};
  sums.is_loaded[block] = true;
  return {};
}

// In the file. A slot that is new gets a block where the last one is full. Numbers come from a file
// that may be damaged: one beyond the counters would be a write outside of the blocks.
Result<std::uint32_t> SqliteSums::find_slot(std::int64_t job, JobSums& sums,
                                            const ProfileRow& row) {
  find_.bind(1, job).bind(2, row.node).bind(3, row.exec).bind(4, row.event);
  FATHOM_ASSIGN(const bool found, find_.step());
  const std::int64_t slot = found ? find_.number(0) : sums.counters;
  find_.reset();
  if (slot < 0 || slot > sums.counters || slot >= std::int64_t{UINT32_MAX})
    return Error{Code::kCorrupt, "a counter in the store is damaged", ""};
  if (found) return static_cast<std::uint32_t>(slot);
  insert_.bind(1, job).bind(2, row.node).bind(3, row.exec).bind(4, row.event).bind(5, slot);
  FATHOM_TRY(insert_.done());
  if (++sums.counters > static_cast<std::int64_t>(sums.blocks.size() * kSumsInBlock)) {
    sums.blocks.emplace_back();
    sums.is_loaded.push_back(true);
    sums.is_changed.push_back(false);
  }
  return static_cast<std::uint32_t>(slot);
}

// By a hash of the three names, which stands for them: 24 bytes a counter in place of some hundred,
// and no text to compare. A batch asks the file only for counters that it has not met.
Result<std::uint32_t> SqliteSums::slot_of(std::int64_t job, JobSums& sums, const ProfileRow& row) {
  KeyedHash hash(key_);
  hash.add(row.node);
  hash.add(row.exec);
  hash.add(row.event);
  const Hash128 key = hash.finish();
  if (const auto known = sums.slots.find(key)) return *known;
  FATHOM_ASSIGN(const std::uint32_t slot, find_slot(job, sums, row));
  sums.slots.insert(key, slot);
  return slot;
}

Status SqliteSums::add(std::int64_t job, const std::vector<ProfileRow>& rows) {
  FATHOM_ASSIGN(JobSums * sums, sums_of(job));
  for (const ProfileRow& row : rows) {
    FATHOM_ASSIGN(const std::uint32_t slot, slot_of(job, *sums, row));
    const auto block = static_cast<std::uint32_t>(slot / kSumsInBlock);
    if (!sums->is_loaded[block]) FATHOM_TRY(load_block(job, *sums, block));
    std::int64_t& sum = sums->sum(slot);
    if (__builtin_add_overflow(sum, row.count, &sum)) return sum_too_large(row);
    if (sums->is_changed[block]) continue;
    sums->is_changed[block] = true;
    sums->changed.push_back(block);
  }
  return {};
}

Status SqliteSums::write_job(std::int64_t job, JobSums& sums) {
  for (const std::uint32_t block : sums.changed) {
    put_.bind(1, job).bind(2, std::int64_t{block}).bind(3, as_bytes(sums.blocks[block]));
    FATHOM_TRY(put_.done());
    sums.is_changed[block] = false;
  }
  sums.changed.clear();
  return set_counters_.bind(1, job).bind(2, sums.counters).done();
}

Status SqliteSums::write() {
  for (auto& [job, sums] : jobs_)
    if (!sums.changed.empty()) FATHOM_TRY(write_job(job, sums));
  make_room();
  return {};
}

// Jobs that nobody wrote to for longest go first.
void SqliteSums::make_room() {
  std::size_t remembered = 0;
  for (const auto& [job, sums] : jobs_) remembered += sums.slots.size();
  while (jobs_.size() > 1 && remembered > most_) {
    const auto oldest =
        std::ranges::min_element(jobs_, {}, [](const auto& entry) { return entry.second.used; });
    remembered -= oldest->second.slots.size();
    jobs_.erase(oldest);
  }
}

}  // namespace fathom::fleet
