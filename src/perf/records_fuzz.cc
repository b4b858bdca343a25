// SPDX-License-Identifier: MIT
// Any bytes in a ring, of an event with any sample_type: what is read lies within them.
#include "perf/records.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "perf/ring.h"

namespace fathom::perf {
namespace {

volatile std::uint64_t seen = 0;  // NOLINT: keeps the reading of what was found from being left out

void look_at(std::span<const std::byte> bytes, std::span<const std::byte> within) {
  if (bytes.empty()) return;
  if (bytes.data() < within.data() || bytes.data() + bytes.size() > within.data() + within.size())
    std::abort();
  for (const std::byte byte : bytes) seen = seen + std::to_integer<std::uint64_t>(byte);
}

void look_at(std::string_view text, std::span<const std::byte> within) {
  look_at(std::as_bytes(std::span(text.data(), text.size())), within);
}

void look_at(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) seen = seen + words[i];
}

void look_at(const Record& record, std::span<const std::byte> within) {
  if (const auto* sample = std::get_if<Sample>(&record.body)) {
    look_at(sample->callchain);
    look_at(sample->registers);
    look_at(sample->raw, within);
    look_at(sample->stack, within);
  }
  if (const auto* mapping = std::get_if<Mapping>(&record.body)) {
    look_at(mapping->build_id, within);
    look_at(mapping->file, within);
  }
  if (const auto* comm = std::get_if<Comm>(&record.body)) look_at(comm->name, within);
  if (const auto* symbol = std::get_if<KernelSymbol>(&record.body)) look_at(symbol->name, within);
  if (const auto* names = std::get_if<Namespaces>(&record.body)) look_at(names->links);
}

// The settings of the event stand before the ring's content.
struct Settings {
  std::uint64_t sample_type, read_format, branch_type, user_registers, head, tail;
};

}  // namespace
}  // namespace fathom::perf

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::perf;
  constexpr std::size_t kRing = 1024;
  Settings settings{};
  std::memcpy(&settings, data, std::min(size, sizeof settings));
  std::vector<std::byte> ring(kRing);
  if (size > sizeof settings)
    std::memcpy(ring.data(), data + sizeof settings, std::min(kRing, size - sizeof settings));
  perf_event_attr attr{};
  attr.sample_type = settings.sample_type;
  attr.read_format = settings.read_format;
  attr.branch_sample_type = settings.branch_type;
  attr.sample_regs_user = settings.user_registers;
  attr.sample_id_all = size % 2;
  perf_event_mmap_page page{};
  page.data_tail = settings.tail;
  page.data_head = settings.tail + settings.head % (2 * kRing);
  const RecordReader reader(attr);
  RingReader reading(&page, ring);
  reading.drain([&](std::span<const std::byte> bytes) {
    if (const std::optional<Record> record = reader.read(bytes)) look_at(*record, bytes);
  });
  if (reading.waiting() != 0) std::abort();
  return 0;
}
