// SPDX-License-Identifier: MIT
// Reads behind a drainer that may still be writing. It stops at the position that the drainer gave,
// not at the end of the file.
#include "trace/spool/log_follower.h"

#include <string>
#include <vector>

#include "trace/spool/chunk_log.h"

namespace fathom::trace {
namespace {

// Read and not mapped: a recorder that finds no room cuts its log back.
Result<std::string> read_behind(const Spool& spool, std::uint64_t n, std::uint64_t from) {
  const Result<File> file = spool.files().read(Spool::log_name(n));
  if (!file && file.error().code == Code::kNotFound) return std::string();
  if (!file) return file.error();
  FATHOM_ASSIGN(const std::uint64_t size, file->size());
  if (size > kLargestDrained) return Error{Code::kCorrupt, file->path() + " is too large", ""};
  return file->read_range(from, size > from ? size - from : 0);
}

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

Status LogFollower::follow(LogEnd end, const std::function<Status(std::span<const Chunk>)>& visit) {
  while (at_.log < end.log || (at_.log == end.log && at_.bytes < end.bytes)) {
    FATHOM_ASSIGN(std::string bytes, read_behind(*spool_, at_.log, at_.bytes));
    const bool last = at_.log == end.log;
    if (last && bytes.size() > end.bytes - at_.bytes) bytes.resize(end.bytes - at_.bytes);
    std::vector<Chunk> chunks;
    scan_log(as_bytes(bytes), [&](const LogEntry& entry, std::uint64_t) {
      if (entry.kind == EntryKind::kChunk)
        chunks.push_back({entry.bytes, spool_->schema(entry.schema)});
    });
    if (!chunks.empty()) FATHOM_TRY(visit(chunks));
    at_ = last ? end : LogEnd{at_.log + 1, 0};
  }
  return {};
}

}  // namespace fathom::trace
