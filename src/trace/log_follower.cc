// SPDX-License-Identifier: MIT
#include "trace/log_follower.h"

#include <fcntl.h>

#include <vector>

#include "base/files.h"
#include "trace/chunk_log.h"

namespace fathom::trace {
namespace {

// Read and not mapped: a recorder that finds no room cuts its log back.
Result<std::vector<std::uint8_t>> read_behind(const std::string& path, std::uint64_t from) {
  const Result<File> file = File::open(path, O_RDONLY);
  if (!file && file.error().code == Code::kNotFound) return std::vector<std::uint8_t>();
  if (!file) return file.error();
  FATHOM_ASSIGN(const std::uint64_t size, file->size());
  std::vector<std::uint8_t> bytes(size > from ? size - from : 0);
  FATHOM_ASSIGN(const std::size_t got,
                file->pread_some(std::as_writable_bytes(std::span(bytes)), from));
  bytes.resize(got);
  return bytes;
}

}  // namespace

Status LogFollower::follow(LogEnd end, const std::function<Status(std::span<const Chunk>)>& visit) {
  while (at_.log < end.log || (at_.log == end.log && at_.bytes < end.bytes)) {
    FATHOM_ASSIGN(std::vector<std::uint8_t> bytes,
                  read_behind(spool_->log_path(at_.log), at_.bytes));
    const bool last = at_.log == end.log;
    if (last && bytes.size() > end.bytes - at_.bytes) bytes.resize(end.bytes - at_.bytes);
    std::vector<Chunk> chunks;
    scan_log(bytes, [&](const LogEntry& entry, std::uint64_t) {
      if (entry.kind == EntryKind::kChunk)
        chunks.push_back({entry.bytes, spool_->schema(entry.schema)});
    });
    if (!chunks.empty()) FATHOM_TRY(visit(chunks));
    at_ = last ? end : LogEnd{at_.log + 1, 0};
  }
  return {};
}

}  // namespace fathom::trace
