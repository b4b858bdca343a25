// SPDX-License-Identifier: MIT
// A run's spool directory, for reading (docs/formats/spool.md). Everything is foreign bytes,
// written while we read.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "trace/chunk_log.h"
#include "trace/decoder.h"
#include "trace/manifest.h"
#include "trace/schema.h"
#include "wire/spool.h"

namespace fathom::trace {

inline constexpr char kSpoolDirectory[] = "spool";
inline constexpr char kSpentSpool[] = ".spool-packed";  // on its way out

// A flock that goes with the object.
class FileLock {
 public:
  enum class Mode { kShared, kExclusive };
  // Waits for it. The file is made if it is missing and can be.
  static Result<FileLock> wait(const std::string& path, Mode mode);
  // Nothing when somebody else holds it.
  static Result<std::optional<FileLock>> attempt(const std::string& path, Mode mode);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

// A pool mapped shared, writable only for the drainer. Sizes were checked against the file.
class Pool {
 public:
  static Result<Pool> open(const std::string& path, bool writable);
  Pool(Pool&& other) noexcept;
  Pool& operator=(Pool&& other) noexcept;
  ~Pool();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t name_hash() const { return name_hash_; }
  [[nodiscard]] std::int64_t made_realtime_ns() const { return made_; }  // 0: not known
  [[nodiscard]] std::uint64_t file_bytes() const { return size_; }
  [[nodiscard]] fathom_pool_header& header() const {
    return *static_cast<fathom_pool_header*>(memory_);
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] fathom_segment& segment(std::uint32_t index) const;
  // The records of a segment, as far as `committed` (the low half of progress) says, clamped to the
  // segment.
  [[nodiscard]] std::span<const std::uint8_t> records(std::uint32_t index,
                                                      std::uint64_t committed) const;
  // Pages that were looked at are no longer part of this process's memory, until they are again.
  void rest() const;

 private:
  Pool(std::string path, void* memory, std::size_t size);
  std::string path_;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  std::uint32_t segment_size_ = 0;
  std::uint32_t count_ = 0;
  std::uint64_t name_hash_ = 0;
  std::int64_t made_ = 0;
};

// What an owner was in the middle of.
struct CallInFlight {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t key = 0;
  std::uint32_t kind = 0;
  std::uint64_t since_tick = 0;
  std::uint64_t schema = 0;
  bool alive = false;
};

// Loss counters of pools, summed.
class PoolLosses {
 public:
  void add(const fathom_pool_header& header);
  void add(std::span<const std::uint8_t> entry);  // of EntryKind::kLosses
  static std::string encode(const fathom_pool_header& header);
  [[nodiscard]] static bool any(const fathom_pool_header& header);
  [[nodiscard]] std::vector<Loss> losses() const;

 private:
  std::array<std::array<std::uint64_t, FATHOM_LOSS_ALL_REASONS>, FATHOM_SOURCES> counts_{};
};

class Snapshot;

class Spool {
 public:
  // `directory` is the spool's own. kNotFound without a run.header, kCorrupt with a bad one,
  // kUnsupported with a newer.
  static Result<Spool> open(const std::string& directory);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const fathom_run_header& header() const { return header_; }  // as it was at open()
  [[nodiscard]] std::string run_id() const;                                  // 32 hex digits
  [[nodiscard]] bool same_boot() const;

  [[nodiscard]] Result<std::vector<std::string>> pool_paths() const;
  [[nodiscard]] std::vector<std::uint64_t> logs() const;  // the n of drained-<n>.log, ascending
  [[nodiscard]] std::string log_path(std::uint64_t n) const;
  [[nodiscard]] std::string definitions_path() const;
  [[nodiscard]] std::string carry_path(std::uint64_t n) const;
  // Has the decoder go on where log n, which is packed, ended; from nothing where it carried none.
  void restore_carried(std::uint64_t n, Decoder& decoder) const;
  [[nodiscard]] std::string lock_path() const;
  [[nodiscard]] std::string publish_lock_path() const;

  // nullptr where the file is missing or damaged. Kept.
  const Schema* schema(std::uint64_t hash);

  // Takes this much off the run's account of pool bytes.
  void give_back(std::uint64_t bytes) const;

  // The caller holds publish.lock shared and names the logs that Parquet files have replaced.
  // `undisturbed`: it holds lock too, so that nobody drains: what nobody writes any more is then
  // read where it lies and not copied.
  Result<Snapshot> snapshot(const Clock& clock, const std::vector<std::uint64_t>& replaced_logs,
                            bool undisturbed = false);

 private:
  Spool(std::string directory, const fathom_run_header& header);
  std::string directory_;
  fathom_run_header header_;
  std::map<std::uint64_t, std::unique_ptr<Schema>> schemas_;
};

// Everything of the spool at one moment: chunks of logs that no Parquet file replaced, and of
// segments. Logs are read one at a time, when they are visited; the spool must stay.
class Snapshot {
 public:
  // What a packer would pack into one file. Refers to memory that goes when the visit ends.
  struct Batch {
    std::vector<Chunk> chunks;
    std::vector<std::span<const std::uint8_t>> rows;  // entries of EntryKind::kRows
  };

  // All definitions that rows may refer to: of what was drained, and of segments.
  void visit_definitions(const std::function<void(const Chunk&)>& visit);
  // All rows, in the order in which a packer takes them. Once.
  void visit_rows(const std::function<void(const Batch&)>& visit);
  // Of all pools, and damage met on the way: complete when both visits are over.
  [[nodiscard]] std::vector<Loss> losses() const;

  std::vector<CallInFlight> in_flight;
  std::vector<ProcessRow> processes;  // that sources beside the programs saw; after the first visit
  bool owners_alive = false;

 private:
  friend class SnapshotTaker;
  struct Piece {
    ChunkName name;
    const Schema* schema = nullptr;
    std::size_t rows_bytes = 0;  // rows up to here; definitions from all of it
    std::span<const std::uint8_t> bytes;
    std::vector<std::uint8_t> copy;  // what bytes refer to, where it is not the pool
  };
  struct Log {
    std::uint64_t n = 0;
    std::uint64_t bytes = 0;  // when it was measured
  };
  explicit Snapshot(Spool& spool) : spool_(&spool) {}
  void visit_log(const Log& log, const std::function<void(const Batch&)>& visit);
  void take_entry(const LogEntry& entry, bool known, Batch& batch);
  void visit_segments(const std::function<void(const Batch&)>& visit);

  Spool* spool_;
  PoolLosses losses_;
  std::int64_t damage_ = 0;
  std::vector<Log> logs_;
  std::vector<Pool> pools_;
  std::vector<Piece> pieces_;
  std::map<ChunkName, std::uint64_t> limits_;  // of all segments, also those drained since
  std::set<ChunkName> logged_;
};

// Name of a call in flight by its schema: "read"; "kind 77" where that is not known.
std::string call_name(Spool& spool, const CallInFlight& call);

}  // namespace fathom::trace
