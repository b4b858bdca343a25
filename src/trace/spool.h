// SPDX-License-Identifier: MIT
// A run's spool directory, for reading (docs/formats/spool.md). Everything is foreign bytes,
// written while we read.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/directory.h"
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
  // Waits for it. The file is made if it is missing.
  static Result<FileLock> wait(const Directory& directory, std::string_view name, Mode mode);
  // Nothing when somebody else holds it.
  static Result<std::optional<FileLock>> attempt(const Directory& directory, std::string_view name,
                                                 Mode mode);
  static Result<std::optional<FileLock>> attempt(const std::string& path, Mode mode);
  // For who only reads: shared, and the file is not made. kNotFound: there is none.
  static Result<std::optional<FileLock>> look(const Directory& directory, std::string_view name);

 private:
  explicit FileLock(File file) : file_(std::move(file)) {}
  File file_;
};

// A pool mapped shared, writable only for the drainer. Sizes were checked against the file.
class Pool {
 public:
  static Result<Pool> open(const Directory& spool, std::string_view name, bool writable);
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
  void ask_date(const File& file);
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
  std::array<std::array<std::uint64_t, FATHOM_LOSS_REASONS>, FATHOM_SOURCES> counts_{};
};

// Whether a header of a pool is one, and fits into a file of this size. kNotFound: not ready yet.
Status check_pool(const fathom_pool_header& header, std::uint64_t size, const std::string& path);

inline constexpr char kLockFile[] = "lock";
inline constexpr char kPublishLock[] = "publish.lock";
inline constexpr char kDefinitionsLog[] = "definitions.log";

class Snapshot;

class Spool {
 public:
  // `directory` is the spool's own. kNotFound without a run.header, kCorrupt with a bad one,
  // kUnsupported with a newer.
  static Result<Spool> open(const Directory& directory);
  static Result<Spool> open(const std::string& directory);

  [[nodiscard]] const Directory& files() const { return files_; }
  [[nodiscard]] const std::string& directory() const { return files_.path(); }
  [[nodiscard]] const fathom_run_header& header() const { return header_; }  // as it was at open()
  [[nodiscard]] std::string run_id() const;                                  // 32 hex digits
  [[nodiscard]] bool same_boot() const;
  [[nodiscard]] std::string_view boot_id() const;  // "" where it is not known

  [[nodiscard]] Result<std::vector<std::string>> pool_paths() const;
  [[nodiscard]] std::vector<std::uint64_t> logs() const;  // the n of drained-<n>.log, ascending
  [[nodiscard]] static std::string log_name(std::uint64_t n);
  [[nodiscard]] static std::string carry_name(std::uint64_t n);
  [[nodiscard]] std::string log_path(std::uint64_t n) const;
  // Has the decoder go on where log n, which is packed, ended; from nothing where it carried none.
  void restore_carried(std::uint64_t n, Decoder& decoder) const;
  [[nodiscard]] std::string lock_path() const;

  // nullptr where the file is missing or damaged. Kept.
  const Schema* schema(std::uint64_t hash);
  // Names of schemas that were asked for and could not be had.
  [[nodiscard]] std::vector<std::string> missing_schemas() const;

  // Takes this much off the run's account of pool bytes.
  void give_back(std::uint64_t bytes) const;

  // The caller names the logs that Parquet files have replaced. `undisturbed`: nobody drained when
  // it looked: what nobody writes any more is then read when it is visited, and not copied.
  Result<Snapshot> snapshot(const Clock& clock, const std::vector<std::uint64_t>& replaced_logs,
                            bool undisturbed = false);

 private:
  Spool(Directory files, const fathom_run_header& header);
  Directory files_;
  fathom_run_header header_;
  std::map<std::uint64_t, std::unique_ptr<Schema>> schemas_;
};

// Name of a call in flight by its schema: "read"; "kind 77" where that is not known.
std::string call_name(Spool& spool, const CallInFlight& call);

}  // namespace fathom::trace
