// SPDX-License-Identifier: MIT
// The sums of profiles in a SQLite file. A counter has a number in its job, its slot; 64 sums lie
// side by side in one row, so that a batch changes few rows. Which slot a counter has and what its
// sum is are remembered between transactions; somebody else's transaction makes that worthless.
//
// For the one thread that holds the transaction.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/model.h"
#include "fleet/sqlite/slot_table.h"
#include "fleet/sqlite/sqlite_db.h"

namespace fathom::fleet {

inline constexpr std::size_t kSumsInBlock = 64;
using SumBlock = std::array<std::int64_t, kSumsInBlock>;  // as it lies in the file: little endian

// Sums change in memory with add(), in the file with write(): a block that a hundred rows change is
// written once.
class SqliteSums {
 public:
  // Remembers about `most` counters at a time.
  static Result<std::unique_ptr<SqliteSums>> make(const Database& database, std::size_t most);

  // kInvalid where a sum would be too large. After any error: roll back and forget().
  Status add(std::int64_t job, const std::vector<ProfileRow>& rows);
  Status write();  // what add() has changed; before the commit
  void forget() { jobs_.clear(); }
  void forget(std::int64_t job) { jobs_.erase(job); }

 private:
  struct JobSums {
    SlotTable slots;
    std::vector<SumBlock> blocks;
    std::vector<bool> is_loaded;  // of each block
    std::vector<bool> is_changed;
    std::vector<std::uint32_t> changed;
    std::int64_t counters = 0;  // how many slots are taken
    std::uint64_t used = 0;     // when, in batches

    [[nodiscard]] std::int64_t& sum(std::uint32_t slot) {
      return blocks[slot / kSumsInBlock][slot % kSumsInBlock];
    }
  };

  SqliteSums(Statement counters, Statement find, Statement insert, Statement read, Statement put,
             Statement set_counters);
  Result<JobSums*> sums_of(std::int64_t job);
  Result<std::uint32_t> slot_of(std::int64_t job, JobSums& sums, const ProfileRow& row);
  Result<std::uint32_t> find_slot(std::int64_t job, JobSums& sums, const ProfileRow& row);
  Status load_block(std::int64_t job, JobSums& sums, std::uint32_t block);
  Status write_job(std::int64_t job, JobSums& sums);
  void make_room();

  Statement counters_, find_, insert_, read_, put_, set_counters_;
  Hash128 key_;
  std::size_t most_ = 0;
  std::uint64_t batches_ = 0;
  std::map<std::int64_t, JobSums> jobs_;
};

}  // namespace fathom::fleet
