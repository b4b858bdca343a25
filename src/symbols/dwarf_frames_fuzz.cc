// SPDX-License-Identifier: MIT
// Any bytes as sections of DWARF, in a file that is whole around them.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/testing/fuzzed_files.h"
#include "symbols/dwarf_frames.h"
#include "symbols/elf_file.h"
#include "symbols/testing/elf_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;           // NOLINT(google-build-using-namespace) : one function
  using namespace fathom::symbols;  // NOLINT(google-build-using-namespace)
  fathom::testing::Pieces pieces(data, size);
  symbols::testing::ElfImage image;
  for (const char* name : {".debug_info", ".debug_abbrev", ".debug_line", ".debug_str",
                           ".debug_line_str", ".debug_rnglists", ".debug_ranges", ".debug_addr"})
    image.add(name, pieces.piece());
  const Result<ElfFile> file = ElfFile::of_image(image.bytes(), "fuzz");
  if (!file) return 0;
  Result<DwarfFrames> frames = DwarfFrames::open(*file, nullptr, 0);
  if (!frames) return 0;
  for (std::uint64_t address = 0x1000; address < 0x1400; address += 8) (void)frames->at(address);
  return 0;
}
