// SPDX-License-Identifier: MIT
// What a Packer holds. Included by packer.cc and finish.cc only.
#pragma once

#include <mutex>
#include <set>

#include "sql/connection.h"
#include "trace/recording/packer.h"
#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/processes.h"
#include "trace/spool/drained_definitions.h"

namespace fathom::trace {

// For the threads that packer.h names.
class Packer::State {
 public:
  State(Directory directory, Spool spool, FileLock lock, Manifest manifest, PackerOptions options);
  Status start();

  Result<DrainResult> drain();
  Status append(const HostRows& rows, const Strings& row_strings);
  void look(const std::function<void(Drainer&)>& look);
  Status pack_complete(const GoOn& go_on);
  [[nodiscard]] PackProgress progress() const;
  Result<Totals> sum_up();
  Result<FinishResult> finish(const std::string& partial_reason, const GoOn& go_on);

  [[nodiscard]] std::string why_partial() const;

  Manifest manifest;
  Clock clock;
  Strings strings;                 // of all sums; few, whatever the programs named
  std::optional<Drainer> drainer;  // guarded by mutex_ while packing goes on

 private:
  struct Rows {
    EventBatch* events = nullptr;  // nullptr: only sums are wanted
    HostRows host;                 // counters of the programs, too
    Decoder::Sums sums;
  };

  [[nodiscard]] bool is_packed(std::uint64_t n) const;
  Status pack(std::uint64_t n);
  Status read_log(std::uint64_t n, Rows& rows);
  void add_rows(const Rows& rows, Totals& totals);
  void add_living(Totals& totals);
  [[nodiscard]] std::int64_t missing_events(std::uint64_t n, std::uint64_t entries,
                                            std::span<const Chunk> chunks, const HostRows& host);
  Status write_rows(std::uint64_t n, Rows& rows);
  Status write_samples(std::uint64_t n, HostRows& rows);
  Status write_inodes(std::uint64_t n, const SummaryTable& sums);
  Status publish(std::uint64_t n, const Decoder::Sums& sums);
  Status write_unpublished(const std::string& name, const SqlBatch& batch);
  Status connect();
  void tick();

  Status drain_all(FinishResult& result, std::string& trouble);
  std::int64_t remove_unready_pools();
  void settle_facts(bool owners_alive);
  void settle_state(const FinishResult& result, const std::string& partial_reason,
                    const std::string& trouble);
  void add_losses_of_spool(Manifest& to);
  void tell_of_others(const SummaryTable& summary, Manifest& to) const;
  void tell_of_unseen(const SummaryTable& summary, Manifest& to);
  std::vector<Loss> gaps();
  Status keep_lock();
  Status load_foreign_parts();
  [[nodiscard]] Population population();
  [[nodiscard]] std::vector<ProcessRow> all_processes(const Population& all, Detail detail);
  [[nodiscard]] std::vector<ThreadRow> all_threads(const Population& all);
  Status load_summary(const std::string& name);
  Status load_timeline(const std::string& name);
  Status load_coverage(const std::string& name);
  Result<Table> read_part(const std::string& columns, const std::string& name,
                          const std::string& behind = "");
  Status recount_layers();
  Status recount_layers(const char* table, const std::string& layer);
  Status write_finals();
  Status publish_finals();

  std::vector<std::uint64_t> complete_logs() const;

  // Held for moments: what draining and packing share. Decoding and Parquet are packing's alone.
  mutable std::mutex mutex_;
  PackProgress progress_;  // guarded by mutex_
  Directory directory_;
  Spool spool_;  // its schemas are guarded by mutex_
  FileLock lock_;
  std::optional<FileLock> lock_again_;  // when somebody removed the file of the other
  PackerOptions options_;
  DrainedDefinitions definitions_;  // read while mutex_ is held: draining appends
  Strings log_strings_;             // of the log that is being packed
  Decoder decoder_;
  SummaryTable summary_;
  Timeline timeline_;
  LayerCoverage coverage_;
  Inodes inodes_;
  std::optional<std::uint64_t> last_packed_;
  std::set<std::uint64_t> own_parts_;
  bool log_damaged_ = false;           // some of its rows are gone, how many cannot be told
  std::vector<CallInFlight> died_in_;  // guarded by mutex_
  Lives seen_from_outside_;            // guarded by mutex_
  SampledTime sampled_;                // guarded by mutex_
  std::optional<sql::Connection> connection_;
  EventBatch events_;  // kept, since its memory costs more than its rows
};

}  // namespace fathom::trace
