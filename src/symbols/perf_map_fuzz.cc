// SPDX-License-Identifier: MIT
// Any bytes as a perf map, and as /proc/kallsyms, which has the same shape.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "symbols/kernel_symbols.h"
#include "symbols/perf_map.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::symbols;  // NOLINT(google-build-using-namespace) : one function
  const std::string text(reinterpret_cast<const char*>(data), size);
  PerfMap map = PerfMap::parse(text.substr(0, size / 2));
  map.add(text.substr(size / 2), 1);
  map.add(text, 2);
  const auto kernel = KernelSymbols::parse(text);
  for (unsigned int bit = 0; bit < 64; ++bit) {
    const std::uint64_t address = std::uint64_t{1} << bit;
    if (map.find(address).size() > size) std::abort();
    if (kernel && kernel->find(address).function.size() > size) std::abort();
  }
  return 0;
}
