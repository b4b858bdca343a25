// SPDX-License-Identifier: MIT
// A run's spool directory, for reading (docs/formats/spool.md). Everything is foreign bytes,
// written while we read.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "base/files.h"
#include "base/result.h"
#include "base/shared_view.h"
#include "trace/decode/decoder.h"
#include "trace/decode/schema.h"
#include "trace/spool/chunk_log.h"
#include "trace/spool/journal.h"
#include "trace/spool/pid_spaces.h"
#include "wire/spool.h"

namespace fathom::trace {

inline constexpr char kSpoolDirectory[] = "spool";
// Reasons of losses that are counted by file.
inline constexpr char kDeniedPool[] = "a pool that may not be read";
inline constexpr char kNoPool[] = "a process found no room for its pool";
inline constexpr char kCopiesLost[] = "a copy of a file of the spool, which was left out";
inline constexpr char kSpentSpool[] = ".spool-packed";  // on its way out

// A flock that goes with the object.
class FileLock {
 public:
  enum class Mode { kShared, kExclusive };
  // Waits for it, but not for ever: whoever holds it may be stopped. The file is made if it is
  // missing.
  static Result<FileLock> wait(const Directory& directory, std::string_view name, Mode mode);
  // Nothing when somebody else holds it.
  static Result<std::optional<FileLock>> attempt(const Directory& directory, std::string_view name,
                                                 Mode mode);
  static Result<std::optional<FileLock>> attempt(const std::string& path, Mode mode);
  // For who only reads: shared, and the file is not made. kNotFound: there is none.
  static Result<std::optional<FileLock>> look(const Directory& directory, std::string_view name);
  // Whether the file that is locked is the one that the path names.
  [[nodiscard]] bool is_at(const std::string& path) const;

 private:
  explicit FileLock(File file) : file_(std::move(file)) {}
  File file_;
};

// A pool mapped shared, writable only for the drainer. Sizes were checked against the file. The
// file may be cut, replaced or removed while we look: what was mapped stays ours.
class Pool {
 public:
  static Result<Pool> open(const Directory& spool, std::string_view name, bool writable);
  static Result<Pool> open(const std::string& path, bool writable);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t name_hash() const { return name_hash_; }
  [[nodiscard]] std::int64_t made_realtime_ns() const { return made_; }  // 0: not known
  [[nodiscard]] std::int64_t changed_realtime_ns() const;                // the file, now
  [[nodiscard]] std::uint64_t file_bytes() const { return view_.size(); }
  [[nodiscard]] fathom_pool_header& header() const {
    return *static_cast<fathom_pool_header*>(view_.memory());
  }
  [[nodiscard]] Pid creator() const;
  [[nodiscard]] fathom_run_shared shared() const;  // what is counted in this pool
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] fathom_segment& segment(std::uint32_t index) const;
  // The head of a segment, of any version. Foreign memory: each call looks again.
  struct Claim {
    std::uint64_t word = 0;  // as it was found
    std::uint32_t state = FATHOM_SEGMENT_FREE;
    std::uint32_t owner_pid = 0;    // 0: nobody, or it is not told yet
    std::uint32_t owner_space = 0;  // where that counts (wire/spool.h)
    [[nodiscard]] Pid owner() const { return {owner_pid, owner_space}; }
    static Claim of(std::uint64_t word) {
      return {word, fathom_claim_state(word), fathom_claim_pid(word), fathom_claim_space(word)};
    }
  };
  [[nodiscard]] Claim claim(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t generation(std::uint32_t index) const;
  // Takes a segment from an owner that is dead, or from nobody: full, unless it is another's now.
  [[nodiscard]] bool take_over(std::uint32_t index, const Claim& found) const;
  void free(std::uint32_t index) const;  // a segment that is full and was copied
  // The records of a segment, as far as `committed` (the low half of progress) says, clamped to the
  // segment.
  [[nodiscard]] std::span<const std::uint8_t> records(std::uint32_t index,
                                                      std::uint64_t committed) const;
  // Pages that were looked at are no longer part of this process's memory, until they are again.
  void drop_pages() const { view_.drop_pages(); }

  enum class FileState : std::uint8_t { kThere, kCut, kGone };  // kGone: removed, or another one
  [[nodiscard]] FileState file_state() const;
  // Gives a file that was cut its size again, since the program would end by touching what is gone.
  // Nobody begins to write there any more. Whether it could be done.
  bool mend();
  // Removes the file, if it is still the one that is mapped.
  bool remove_file() const;

 private:
  Pool(std::string path, const struct stat& file, const fathom_pool_header& header,
       SharedView view);
  void mend_header();
  [[nodiscard]] std::uint32_t& generation_of(std::uint32_t index) const;

  std::string path_;
  SharedView view_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  fathom_pool_header first_{};  // as it was when it was opened
  std::uint32_t segment_size_ = 0;
  std::uint32_t count_ = 0;
  bool old_heads_ = false;  // versions 1 and 2
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

class Spool;

// What processes count, in the run's page or in a pool's, summed.
class PoolLosses {
 public:
  void add(const fathom_pool_header& header);     // older than version 3
  void add(const fathom_run_shared& shared);      // of the run, or in the page of a pool
  void add(std::span<const std::uint8_t> entry);  // of EntryKind::kLosses
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] bool any() const;
  // The schemas of the spool name the layers of sources that this version does not know.
  [[nodiscard]] std::vector<Loss> losses(const Spool* spool = nullptr) const;
  [[nodiscard]] std::uint64_t dropped_events() const;         // for want of room
  [[nodiscard]] std::uint64_t runs() const { return runs_; }  // SWITCH records that were written

 private:
  std::uint64_t runs_ = 0;
  std::array<std::array<std::uint64_t, FATHOM_LOSS_REASONS>, FATHOM_SOURCE_ROOM> counts_{};
};

// Whether a header of a pool is one, and fits into a file of this size. kNotFound: not ready yet.
Status check_pool(const fathom_pool_header& header, std::uint64_t size, const std::string& path);

inline constexpr char kLockFile[] = "lock";
inline constexpr char kPublishLock[] = "publish.lock";
inline constexpr char kDefinitionsLog[] = "definitions.log";

class Snapshot;

// The directory of a run with its files by their names: what is there, and what belongs to this
// run. Owns the schemas that chunks point to. It reads and lists; Drainer and Snapshot are what
// goes through it. One thread at a time, but for files().
class Spool {
 public:
  // `directory` is the spool's own. kNotFound without a run.header, kCorrupt with a bad one,
  // kUnsupported with a newer.
  static Result<Spool> open(const Directory& directory);
  static Result<Spool> open(const std::string& directory);

  // From any thread; see remake().
  [[nodiscard]] Directory files() const;
  [[nodiscard]] const std::string& directory() const { return path_; }
  [[nodiscard]] const fathom_run_header& header() const { return header_; }  // as it was at open()
  [[nodiscard]] std::string run_id() const;                                  // 32 hex digits
  [[nodiscard]] bool same_boot() const;
  [[nodiscard]] std::string trouble() const;       // that kept the recorder from writing; "": none
  [[nodiscard]] std::string_view boot_id() const;  // "" where it is not known
  // Another machine has a recorder of this run that lives: no lock tells of it here.
  [[nodiscard]] bool recorded_elsewhere() const;
  // What the processes count, as it is now; nothing where it cannot be read.
  [[nodiscard]] fathom_run_shared shared() const;

  [[nodiscard]] Result<std::vector<std::string>> pool_paths() const;
  [[nodiscard]] std::vector<std::uint64_t> logs() const;  // the n of drained-<n>.log, ascending
  // Whether there is something of that name, and it is not another log's copy.
  [[nodiscard]] bool has_log(std::uint64_t n) const;
  // Names of logs that are copies of others, or of another run: nothing of them counts.
  [[nodiscard]] std::vector<std::string> copied_logs() const;
  // Which entries of a log are its own.
  [[nodiscard]] OwnEntries entries_of(std::uint64_t log) const;
  [[nodiscard]] std::string log_head(std::uint64_t log) const;  // Journal::head of it
  // Why a pool is none of this run's; "" if it is. A pool that only has another name is.
  [[nodiscard]] std::string why_not_ours(const fathom_pool_header& header,
                                         std::string_view name) const;
  [[nodiscard]] static std::string log_name(std::uint64_t n);
  [[nodiscard]] static std::string carry_name(std::uint64_t n);
  [[nodiscard]] std::string log_path(std::uint64_t n) const;
  [[nodiscard]] std::string definitions_path() const;
  // Has the decoder go on where log n, which is packed, ended; from nothing where it carried none.
  void restore_carried(std::uint64_t n, Decoder& decoder) const;
  [[nodiscard]] std::string lock_path() const;

  // Of a source, as the schemas that lie here declare it; "" where none does.
  [[nodiscard]] std::string layer_of(std::size_t source) const;
  // nullptr where the file is missing or damaged. Kept.
  const Schema* schema(std::uint64_t hash);
  // Names of schemas that were asked for and could not be had.
  [[nodiscard]] std::vector<std::string> missing_schemas() const;

  // Makes what somebody removed again: the directory (not the recording's own), and schemas that
  // were read. For whoever drains; files() are those of the new directory then.
  Status remake();

  // The caller names the logs that Parquet files have replaced. `undisturbed`: nobody drained when
  // it looked: what nobody writes any more is then read when it is visited, and not copied.
  Result<Snapshot> snapshot(const Clock& clock, const std::vector<std::uint64_t>& replaced_logs,
                            bool undisturbed = false);

 private:
  Spool(Directory files, const fathom_run_header& header);
  struct KnownSchema {
    std::string text;
    std::unique_ptr<Schema> parsed;
  };
  [[nodiscard]] std::vector<std::uint64_t> numbered_logs() const;
  [[nodiscard]] bool is_copy(std::uint64_t log) const;

  std::string path_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  Directory files_;                           // guarded by mutex_
  mutable std::set<std::uint64_t> own_logs_;  // that were looked at; guarded by mutex_
  fathom_run_header header_;
  std::map<std::uint64_t, KnownSchema> schemas_;
};

// Name of a call in flight by its schema: "read"; "kind 77" where that is not known.
std::string call_name(Spool& spool, const CallInFlight& call);

}  // namespace fathom::trace
