// SPDX-License-Identifier: MIT
// The logs of a Drainer. Each holds what becomes one Parquet file; definitions.log holds what the
// others refer to, and the journal by which a log that somebody removed is noticed. A log that is
// complete stays open: it can be packed though its file is gone.
#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "trace/spool/drainer.h"

namespace fathom::trace {
namespace {

// Bytes of definitions in a log: whoever packs it has all of its names in memory.
constexpr std::uint64_t kLogNames = std::uint64_t{4} << 20;
constexpr std::size_t kMostOpenLogs = 128;  // descriptors are few; older ones have their file alone

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

// A drainer that was killed may have logged a segment and not freed it.
Status Drainer::scan_existing() {
  for (const std::uint64_t n : spool_->logs()) {
    const Result<OpenLog> log = open_log(n);
    // Something else is in its place: its events are a gap.
    if (!log) continue;
    OwnEntries own = spool_->entries_of(n);
    FATHOM_TRY(scan_log(log->file, 0, kMostLogBytes, [&](const LogEntry& entry, std::uint64_t) {
      if (own.take(entry) && entry.kind == EntryKind::kChunk) logged_.insert(entry.name);
    }));
  }
  if (!spool_->files().has(kDefinitionsLog)) return {};
  FATHOM_ASSIGN(definitions_, ChunkLog::open(spool_->files(), kDefinitionsLog));
  FATHOM_TRY(scan_log(definitions_->file(), 0, kMostLogBytes,
                      [this](const LogEntry& entry, std::uint64_t) {
                        if (entry.kind == EntryKind::kLosses) gone_losses_.add(entry.bytes);
                        if (entry.kind == EntryKind::kDrained) journal_.add(entry.bytes);
                      }));
  return {};
}

Status Drainer::ensure_definitions() {
  if (definitions_) return {};
  FATHOM_ASSIGN(definitions_, ChunkLog::open(spool_->files(), kDefinitionsLog));
  return {};
}

Status Drainer::note(const std::string& entry) {
  FATHOM_TRY(ensure_definitions());
  FATHOM_TRY(definitions_->append({EntryKind::kDrained, {}, 0, as_bytes(entry)}));
  journal_.add(as_bytes(entry));
  return {};
}

bool Drainer::is_in_the_way(std::uint64_t n) const {
  const std::string name = Spool::log_name(n);
  return spool_->files().has(name) && !spool_->files().has_file(name);
}

Status Drainer::ensure_log(std::uint64_t room) {
  const bool full = log_ && (log_->size() + room > kLogBytes || names_in_log_ > kLogNames);
  if (full && log_->size() > 0) roll();
  if (!log_) {
    Result<ChunkLog> log = ChunkLog::open(spool_->files(), Spool::log_name(next_log_));
    // Somebody put something else there: another number will do.
    if (!log && is_in_the_way(next_log_))
      log = ChunkLog::open(spool_->files(), Spool::log_name(++next_log_));
    if (!log) return std::move(log).error();
    log_ = std::move(log).value();
    current_log_ = next_log_++;
    names_in_log_ = 0;
  }
  return ensure_definitions();
}

// What a log begins with tells which it is.
Status Drainer::put(const LogEntry& entry) {
  if (log_->size() == 0) {
    const std::string head = spool_->log_head(current_log_);
    FATHOM_TRY(log_->append({EntryKind::kDrained, {}, 0, as_bytes(head)}));
  }
  return log_->append(entry);
}

Status Drainer::append(const HostRows& rows, const Strings& strings) {
  std::uint64_t count = rows.rows();
  for (const std::string& bytes : encode_rows(rows, strings)) {
    FATHOM_TRY(ensure_log(bytes.size()));
    FATHOM_TRY(put({EntryKind::kRows, {}, 0, as_bytes(bytes)}));
    FATHOM_TRY(note(Journal::drained(current_log_, std::exchange(count, 0))));
  }
  if (rows.lives.empty()) return {};
  FATHOM_TRY(ensure_definitions());  // no log: the journal would not tell of it
  const std::string bytes = encode_lives(rows.lives);
  return definitions_->append({EntryKind::kLives, {}, 0, as_bytes(bytes)});
}

void Drainer::roll() {
  if (!log_ || log_->size() == 0) return;
  written_.emplace(current_log_, std::move(*log_));
  log_.reset();
  if (written_.size() > kMostOpenLogs) written_.erase(written_.begin());
}

std::vector<std::uint64_t> Drainer::complete_logs() const {
  std::vector<std::uint64_t> logs = spool_->logs();
  std::erase_if(logs, [this](std::uint64_t n) { return is_in_the_way(n); });
  for (const auto& [n, log] : written_) logs.push_back(n);
  if (log_) std::erase(logs, current_log_);
  std::ranges::sort(logs);
  logs.erase(std::unique(logs.begin(), logs.end()), logs.end());
  return logs;
}

Result<Drainer::OpenLog> Drainer::open_log(std::uint64_t n) const {
  const auto ours = written_.find(n);
  if (ours != written_.end()) {
    const std::string path = "/proc/self/fd/" + std::to_string(ours->second.file().fd());
    FATHOM_ASSIGN(File file, File::open(path, O_RDONLY));
    return OpenLog{std::move(file), ours->second.size()};
  }
  FATHOM_ASSIGN(File file, spool_->files().read(Spool::log_name(n)));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  return OpenLog{std::move(file), size};
}

void Drainer::remove_log(std::uint64_t n) {
  (void)spool_->files().remove(Spool::log_name(n));
  written_.erase(n);
}

bool Drainer::has_log(std::uint64_t n) const {
  return (log_ && n == current_log_) || written_.contains(n) || spool_->has_log(n);
}

LogEnd Drainer::log_end() const {
  return log_ ? LogEnd{current_log_, log_->size()} : LogEnd{next_log_, 0};
}

}  // namespace fathom::trace
