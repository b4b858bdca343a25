// SPDX-License-Identifier: MIT
// Any bytes as the memory of a process with Python inside, and as tables of lines.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "sources/perf/python/code_objects.h"
#include "sources/perf/python/foreign_memory.h"
#include "sources/perf/python/frame_reader.h"
#include "sources/perf/python/line_table.h"
#include "sources/perf/python/stack_merge.h"

namespace {

using namespace fathom::sources;  // NOLINT(google-build-using-namespace) : one program

// The bytes again and again, so that any address may be one of them.
class AnyMemory final : public ForeignMemory {
 public:
  explicit AnyMemory(std::string_view bytes) : bytes_(bytes) {}
  bool read(std::uint64_t address, std::span<std::byte> to) override {
    for (std::size_t i = 0; i < to.size(); i++)
      to[i] = static_cast<std::byte>(bytes_[(address + i) % bytes_.size()]);
    return bytes_[address % bytes_.size()] != 'x';
  }

 private:
  std::string_view bytes_;
};

void walk(AnyMemory& memory, const PythonLayout& layout, std::string_view bytes) {
  std::uint64_t type = 0;
  std::memcpy(&type, bytes.data(), sizeof type);
  CodeObjects codes(memory, layout, type);
  FrameReader reader(memory, layout, codes);
  (void)reader.threads(0);
  const PythonStack live = reader.stack(8);
  const NativeRole roles[] = {NativeRole::kLoop, NativeRole::kHelper, NativeRole::kLoop};
  SampledLoop loop;
  loop.end = 256;
  for (std::uint64_t i = 0; i < 16; i++) loop.registers.set(i, i * 8);
  LoopPlaces places;
  constexpr int kOftenEnough = 20;  // until places are believed
  for (int i = 0; i < kOftenEnough; i++) {
    StackMerge merge(reader, codes, places, live);
    const auto frames = merge.merge({roles, {&loop, 1}, {0, bytes}, false});
    for (const MergedFrame& frame : frames)
      if (frame.line < 0 && frame.code && frame.code->first_line >= 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLeast = 16;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto format : {LineFormat::kSteps, LineFormat::kRanges, LineFormat::kLocations}) {
    for (std::uint64_t offset = 0; offset < 64; offset += 2)
      if (line_at(format, bytes, 1, offset) < 0) std::abort();
  }
  if (size < kLeast) return 0;
  AnyMemory memory(bytes);
  for (int minor = 8; minor <= 12; minor++) walk(memory, *PythonLayout::of_version(minor), bytes);
  if (const auto layout = PythonLayout::read(memory, 0)) walk(memory, *layout, bytes);
  return 0;
}
