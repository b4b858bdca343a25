// SPDX-License-Identifier: MIT
// Any bytes as a program or library: whoever profiles a program reads its files.
#include <cstddef>
#include <cstdint>
#include <string>

#include "symbols/module.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;  // NOLINT(google-build-using-namespace) : one function
  Result<symbols::Module> module =
      symbols::Module::open_image(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!module) return 0;
  constexpr std::uint64_t kQuestions = 64;
  for (const symbols::Segment& segment : module->segments()) {
    for (std::uint64_t i = 0; i < kQuestions; ++i)
      (void)module->frames_at(segment.offset + segment.size / kQuestions * i);
    if (segment.offset > size) break;
  }
  for (std::uint64_t address = 0; address < 0x4000; address += 0x80)
    (void)module->frames_at_address(address);
  return 0;
}
