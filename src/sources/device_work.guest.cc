// SPDX-License-Identifier: MIT
// Writes the rows of layer gpu. It lies between the sources cuda and gpu because none may include
// the other.
#include "sources/device_work.guest.h"

#include "guest/records.h"

namespace fathom::guest {

constinit uint8_t device_state = static_cast<uint8_t>(DeviceState::kUnasked);

namespace {

uint8_t* put_kernel(uint8_t* at, const DeviceRow& row) {
  for (const uint32_t extent : row.extents) at = fathom_put_varint(at, extent);
  return fathom_put_varint(fathom_put_varint(at, row.shared), row.registers);
}

}  // namespace

double ticks_per_ns() {
  if (guest.tick_source == FATHOM_TICK_MONOTONIC_NS) return 1;
  const uint64_t ticks = tick() - guest.run->start_tick;
  const uint64_t ns = clock_ns(CLOCK_MONOTONIC) - guest.run->start_monotonic_ns;
  return static_cast<double>(ticks) / static_cast<double>(ns > 0 ? ns : 1);
}

// The record's own time is now, so that ends never decrease in its run; the work ended before.
void write_device_row(const DeviceRow& row) {
  const uint64_t now = tick();
  Writer writer(FATHOM_SOURCE_GPU);
  if (!writer.ok()) return;
  uint8_t* at =
      put_timed_head(FATHOM_FIRST_GPU_KIND + static_cast<unsigned>(row.kind), tls.last_depth, now);
  const uint64_t told = tls.cursor.last_end;
  const uint64_t end = row.end < told ? row.end : told;
  at = fathom_put_varint(at, end > row.begin ? end - row.begin : 0);
  at = fathom_put_varint(at, told - end);
  at = fathom_put_varint(at, row.name);
  at = fathom_put_varint(at, row.correlation);
  at = fathom_put_varint(at, fathom_zigzag(row.device));
  at = fathom_put_varint(at, row.stream);
  if (row.kind == DeviceKind::kCopy || row.kind == DeviceKind::kSet)
    at = fathom_put_varint(at, row.bytes);
  if (row.kind == DeviceKind::kKernel) at = put_kernel(at, row);
  at = fathom_put_varint(fathom_put_varint(at, row.graph), row.node);
  writer.commit(fathom_put_varint(at, static_cast<unsigned>(row.clock)));
}

}  // namespace fathom::guest
