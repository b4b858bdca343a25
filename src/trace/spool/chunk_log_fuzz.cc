// SPDX-License-Identifier: MIT
// Any bytes as a log, and, since a checksum guards the entries of a log, as each kind of entry.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "trace/decode/host_rows.h"
#include "trace/spool/chunk_log.h"
#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

void read_log(std::span<const std::uint8_t> bytes) {
  std::uint64_t reached = 0;
  const LogScan scan = scan_log(bytes, [&](const LogEntry& entry, std::uint64_t offset) {
    if (offset < reached || offset + entry.bytes.size() > bytes.size()) std::abort();
    reached = offset + entry.bytes.size();
  });
  if (scan.sound_bytes + scan.damaged_bytes < bytes.size()) std::abort();
}

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void read_rows(std::span<const std::uint8_t> bytes) {
  HostRows rows;
  Strings strings;
  if (!decode_rows(bytes, rows, strings)) return;
  HostRows again;
  for (const std::string& entry : encode_rows(rows, strings)) {
    if (!decode_rows(as_bytes(entry), again, strings)) std::abort();
  }
  if (again.counters.rows.size() != rows.counters.rows.size() ||
      again.intervals.rows.size() != rows.intervals.rows.size() ||
      again.events.rows() != rows.events.rows() || again.losses.size() != rows.losses.size())
    std::abort();
}

void read_lives(std::span<const std::uint8_t> bytes) {
  Lives rows;
  (void)decode_processes(bytes, rows.processes);
  rows = {};
  if (!decode_lives(bytes, rows)) return;
  Lives again;
  if (!decode_lives(as_bytes(encode_lives(rows)), again) ||
      again.processes.size() != rows.processes.size() ||
      again.threads.size() != rows.threads.size())
    std::abort();
}

void read_losses(std::span<const std::uint8_t> bytes) {
  PoolLosses losses;
  losses.add(bytes);
  (void)losses.losses();
}

}  // namespace
}  // namespace fathom::trace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  fathom::trace::read_log(bytes);
  fathom::trace::read_rows(bytes);
  fathom::trace::read_lives(bytes);
  fathom::trace::read_losses(bytes);
  return 0;
}
