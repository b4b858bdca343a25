// SPDX-License-Identifier: MIT
// Any bytes as a jitdump file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "symbols/jitdump.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;  // NOLINT(google-build-using-namespace) : one function
  const auto dump = symbols::Jitdump::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!dump) return 0;
  for (std::uint64_t address = 0; address < 0x3000; address += 0x40)
    for (std::uint64_t time = 0; time < 400; time += 100) (void)dump->find(address, time);
  return 0;
}
