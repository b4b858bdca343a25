// SPDX-License-Identifier: MIT
// Reads definitions.log from where it stopped last time: the file only grows while a recording is
// made.
#include "trace/spool/drained_definitions.h"

#include "base/files.h"
#include "trace/decode/host_rows.h"
#include "trace/spool/chunk_log.h"

namespace fathom::trace {

Status DrainedDefinitions::into(Decoder& decoder, const File* log, Lives* seen) {
  if (log == nullptr) return {};
  const auto take = [&](const LogEntry& entry, std::uint64_t) {
    if (entry.kind == EntryKind::kChunk) decoder.define({entry.bytes, nullptr});
    if (entry.kind == EntryKind::kProcesses && seen != nullptr)
      (void)decode_processes(entry.bytes, seen->processes);
    if (entry.kind == EntryKind::kLives && seen != nullptr) (void)decode_lives(entry.bytes, *seen);
    if (entry.kind == EntryKind::kLivesUnsampled && seen != nullptr)
      (void)decode_unsampled_lives(entry.bytes, *seen);
  };
  FATHOM_ASSIGN(const LogScan scan, scan_log(*log, read_, kMostLogBytes, take));
  read_ += scan.sound_bytes;
  return {};
}

}  // namespace fathom::trace
