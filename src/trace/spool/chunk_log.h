// SPDX-License-Identifier: MIT
// `drained-<n>.log` and `definitions.log`: chunks behind each other, each with a header of its name
// and a checksum, and rows that the recorder itself made. Appending is one write; a
// torn or damaged entry is skipped when reading.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/directory.h"
#include "base/result.h"
#include "trace/rows/batch.h"

namespace fathom::trace {

// One fill of a segment.
struct ChunkName {
  std::uint64_t pool = 0;  // fnv1a of the pool's file name
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): sees a 0 in what the compiler makes here
  auto operator<=>(const ChunkName&) const = default;
};

// kRows, kLives: of sources beside the programs (host_rows.h); kProcesses is what older recorders
// wrote in place of kLives. kLosses: the loss counters of a
// pool that was removed, as they stood in its header. kDrained: what went into a log, and what the
// drainer saw damaged (journal.h).
enum class EntryKind : std::uint32_t {
  kChunk = 1,
  kRows = 2,
  kLosses = 3,
  kProcesses = 4,
  kDrained = 5,
  kLivesUnsampled = 6,  // what recorders wrote before they sampled
  kLives = 7,
};

// One entry. Its bytes are those that were read or are to be written: owned by neither.
struct LogEntry {
  EntryKind kind = EntryKind::kChunk;
  ChunkName name;
  std::uint64_t schema = 0;  // hash
  std::span<const std::uint8_t> bytes;
};

// More than any log has: what is larger was not made by a recorder.
inline constexpr std::uint64_t kMostLogBytes = std::uint64_t{2} << 30;

// The writing end. One thread at a time; others may read the file meanwhile.
class ChunkLog {
 public:
  // Creates the file, or goes on at the end of its sound entries, which cuts off a torn one.
  static Result<ChunkLog> open(const Directory& directory, const std::string& name);
  // On failure the file is cut back to what it was.
  Status append(const LogEntry& entry);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] const File& file() const { return file_; }
  // Whether the path still names this file.
  [[nodiscard]] bool is_there() const;
  // Writes all of it under its path again, where somebody removed it, and goes on there.
  Status write_again();

 private:
  ChunkLog(File file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  File file_;
  std::uint64_t size_ = 0;
};

// What reading a log through came to.
struct LogScan {
  std::uint64_t sound_bytes = 0;    // up to the end of the last sound entry
  std::uint64_t damaged_bytes = 0;  // skipped in between or behind
  std::optional<ChunkName> torn;    // of an entry behind them whose end is missing
};
// Sees an entry, whose span points into memory that goes when the call returns. `offset` is where
// the entry begins.
using OnEntry = std::function<void(const LogEntry& entry, std::uint64_t offset)>;

// Visits the sound entries; here the spans point into `bytes`. The time grows with the size alone:
// a log with so many false heads that looking behind each would take long is damaged from there on.
LogScan scan_log(std::span<const std::uint8_t> bytes, const OnEntry& visit);

// The same for a file, from an offset on, with a window of it in memory at a time. What lies
// `most` bytes behind the offset and further counts as damaged.
Result<LogScan> scan_log(const File& file, std::uint64_t from, std::uint64_t most,
                         const OnEntry& visit);

}  // namespace fathom::trace
