// SPDX-License-Identifier: MIT
// Any bytes as call frame information, registers and a stack. Every walk must end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/testing/fuzzed_files.h"
#include "symbols/testing/elf_image.h"
#include "symbols/unwind/unwinder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;           // NOLINT(google-build-using-namespace) : one function
  using namespace fathom::symbols;  // NOLINT(google-build-using-namespace)
  using symbols::testing::ElfImage;
  fathom::testing::Pieces pieces(data, size);
  constexpr std::uint64_t kSection = 0x3000;
  ElfImage image;
  image.add(".eh_frame", pieces.piece(), kSection).add(".debug_frame", pieces.piece());
  Result<FrameTable> table = FrameTable::of_image(image.bytes(), "fuzz");
  if (!table) return 0;
  AddressSpace space;
  space.add(ElfImage::kBase, ElfImage::kBase + ElfImage::kSize, ElfImage::kBase, &*table);
  Registers registers;
  registers.pc = ElfImage::kBase + pieces.number() % 0x400;
  const std::uint64_t stack = 0x70000000;
  for (std::size_t i = 0; i < 16; ++i) registers.set(i, stack + pieces.byte() * std::uint64_t{8});
  const std::string bytes(pieces.rest());
  std::vector<UnwoundFrame> frames;
  constexpr std::size_t kMost = 1000;
  (void)unwind(registers, {stack, bytes}, space, frames, kMost);
  if (frames.empty() || frames.size() > kMost) std::abort();
  for (std::uint64_t address = ElfImage::kBase; address < ElfImage::kBase + 0x400; address += 4)
    (void)table->find(address);
  return 0;
}
