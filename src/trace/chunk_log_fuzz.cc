// SPDX-License-Identifier: MIT
// Any bytes as a log, and, since a checksum guards the entries of a log, as each kind of entry.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "trace/chunk_log.h"
#include "trace/spool.h"

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

void read_counters(std::span<const std::uint8_t> bytes) {
  CounterBatch counters;
  Strings strings;
  if (!decode_counters(bytes, counters, strings)) return;
  const std::string text = encode_counters(counters, strings);
  CounterBatch again;
  const std::span copy(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  if (!decode_counters(copy, again, strings) || again.rows.size() != counters.rows.size())
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
  fathom::trace::read_counters(bytes);
  fathom::trace::read_losses(bytes);
  return 0;
}
