// SPDX-License-Identifier: MIT
// Any bytes as a program that could not be recorded: an ELF file, a script.
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "trace/recording/obstacle.h"
#include "trace/testing/spool_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  static const testing::TempDir folder;
  const std::string path = folder.path() + "/program";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  (void)obstacle_of(path, "");
  (void)obstacle_of("/bin/true", path);
  return 0;
}
