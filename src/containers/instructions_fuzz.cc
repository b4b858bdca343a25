// SPDX-License-Identifier: MIT
// Any bytes as instructions: taken, or refused in one line that names the place. What is taken
// opens nothing of the machine and has no word that an engine could misread.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "containers/instructions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::containers;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto all = parse_instructions(text, "s", {.folder = "/nowhere", .engine_socket = ""});
  if (!all) {
    const std::string& message = all.error().message;
    if (message.find('\n') != std::string::npos || !message.starts_with("s:")) std::abort();
    return 0;
  }
  if (all->command.empty() != is_image_name(all->image)) std::abort();
  if (all->runs.empty() || all->repetitions < 1) std::abort();
  for (const Mount& mount : all->mounts) {
    if (mount.source == "/" || mount.source.starts_with("/proc") || mount.target == "/")
      std::abort();
  }
  return 0;
}
