// SPDX-License-Identifier: MIT
// Names for samples, as a report needs them. Reads addresses of FILE, one a line in hexadecimal
// digits, and says how many seconds of CPU it took to open FILE and to find the frames of each.
// usage: symbolize FILE <ADDRESSES
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

#include "symbols/module.h"

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: symbolize FILE <ADDRESSES\n");
    return 2;
  }
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t address = 0; std::scanf("%" SCNx64, &address) == 1;)
    addresses.push_back(address);
  const std::clock_t begin = std::clock();
  auto module =
      fathom::symbols::Module::open({.path = words[1], .build_id = "", .root = "", .segments = {}});
  if (!module) {
    std::fprintf(stderr, "%s\n", module.error().message.c_str());
    return 3;
  }
  std::size_t frames = 0;
  for (const std::uint64_t address : addresses) frames += module->frames_at_address(address).size();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%.6f %zu\n", seconds, frames);
  return 0;
}
