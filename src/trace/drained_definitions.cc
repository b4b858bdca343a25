// SPDX-License-Identifier: MIT
#include "trace/drained_definitions.h"

#include <fcntl.h>

#include "base/files.h"
#include "trace/chunk_log.h"
#include "trace/host_rows.h"

namespace fathom::trace {

Status DrainedDefinitions::into(Decoder& decoder, std::vector<ProcessRow>* processes) {
  if (!path_exists(path_)) return {};
  FATHOM_ASSIGN(const File file, File::open(path_, O_RDONLY));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  if (size <= read_) return {};
  std::vector<std::uint8_t> fresh(size - read_);
  FATHOM_ASSIGN(const std::size_t got,
                file.pread_some(std::as_writable_bytes(std::span(fresh)), read_));
  const LogScan scan = scan_log(std::span<const std::uint8_t>(fresh).first(got),
                                [&](const LogEntry& entry, std::uint64_t) {
                                  if (entry.kind == EntryKind::kChunk)
                                    decoder.define({entry.bytes, nullptr});
                                  if (entry.kind == EntryKind::kProcesses && processes != nullptr)
                                    (void)decode_processes(entry.bytes, *processes);
                                });
  read_ += scan.sound_bytes;
  return {};
}

}  // namespace fathom::trace
