// SPDX-License-Identifier: MIT
// A log is complete once there is a later one. Which there are is asked before reading: what is
// appended behind that lies in the last of them.
#include "trace/spool/log_tail.h"

#include <algorithm>
#include <string>
#include <utility>

#include "trace/spool/drainer.h"

namespace fathom::trace {

Status LogTail::read(const std::function<void(const Batch&)>& visit) {
  const std::vector<std::uint64_t> logs = spool_->logs();
  while (true) {
    if (!open_) {
      FATHOM_ASSIGN(const bool opened, open_next(logs));
      if (!opened) return {};
    }
    FATHOM_TRY(read_open(visit));
    const bool is_last = logs.empty() || logs.back() <= open_->log;
    if (is_last) return {};
    open_.reset();
  }
}

// One that is gone was packed since, and is not begun.
Result<bool> LogTail::open_next(const std::vector<std::uint64_t>& logs) {
  for (const std::uint64_t log : logs) {
    if (knows(log)) continue;
    Result<File> file = spool_->files().read(Spool::log_name(log));
    if (!file && file.error().code == Code::kNotFound) continue;
    if (!file) return file.error();
    known_.insert(log);
    open_.emplace(Open{log, std::move(file).value(), spool_->entries_of(log)});
    return true;
  }
  return false;
}

// Read and not mapped: a recorder that finds no room cuts its log back.
Status LogTail::read_open(const std::function<void(const Batch&)>& visit) {
  FATHOM_ASSIGN(const std::uint64_t size, open_->file.size());
  if (size > kLargestDrained)
    return Error{Code::kCorrupt, open_->file.path() + " is too large", ""};
  if (size <= open_->read) return {};
  FATHOM_ASSIGN(const std::string bytes, open_->file.read_range(open_->read, size - open_->read));
  Batch batch;
  const std::span<const std::uint8_t> all(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                          bytes.size());
  const LogScan scan = scan_log(all, [&](const LogEntry& entry, std::uint64_t) {
    if (!open_->own.take(entry)) return;
    if (entry.kind == EntryKind::kRows) batch.rows.push_back(entry.bytes);
    if (entry.kind != EntryKind::kChunk) return;
    batch.chunks.push_back({entry.bytes, spool_->schema(entry.schema)});
    batch.names.push_back(entry.name);
  });
  open_->read += scan.sound_bytes;
  visit(batch);
  return {};
}

}  // namespace fathom::trace
