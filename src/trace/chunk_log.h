// SPDX-License-Identifier: MIT
// `drained-<n>.log` and `definitions.log`: chunks behind each other, each with a header of its name
// and a checksum, and rows that the recorder itself made. Appending is one write; a
// torn or damaged entry is skipped when reading.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "trace/batch.h"

namespace fathom::trace {

// One fill of a segment.
struct ChunkName {
  std::uint64_t pool = 0;  // fnv1a of the pool's file name
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): sees a 0 in what the compiler makes here
  auto operator<=>(const ChunkName&) const = default;
};

// kRows, kProcesses: of sources beside the programs (host_rows.h). kLosses: the loss counters of a
// pool that was removed, as they stood in its header. kDrained: what went into a log, and what the
// drainer saw damaged (journal.h).
enum class EntryKind : std::uint32_t {
  kChunk = 1,
  kRows = 2,
  kLosses = 3,
  kProcesses = 4,
  kDrained = 5
};

struct LogEntry {
  EntryKind kind = EntryKind::kChunk;
  ChunkName name;
  std::uint64_t schema = 0;  // hash
  std::span<const std::uint8_t> bytes;
};

class ChunkLog {
 public:
  // Creates the file, or goes on at the end of its sound entries.
  static Result<ChunkLog> open(const std::string& path);
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

struct LogScan {
  std::uint64_t sound_bytes = 0;    // up to the end of the last sound entry
  std::uint64_t damaged_bytes = 0;  // skipped in between or behind
};
// Visits the sound entries; the spans point into `bytes`. `offset` is where the entry begins.
LogScan scan_log(std::span<const std::uint8_t> bytes,
                 const std::function<void(const LogEntry&, std::uint64_t offset)>& visit);
// The same of a file from an offset on, a piece at a time: it may be larger than memory should be.
// `sound_bytes` counts from the offset.
Result<LogScan> scan_log_file(
    const File& file, std::uint64_t from,
    const std::function<void(const LogEntry&, std::uint64_t offset)>& visit);

}  // namespace fathom::trace
