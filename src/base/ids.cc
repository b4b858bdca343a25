// SPDX-License-Identifier: MIT
// Run ids come from getrandom and from nothing else: clocks and pids repeat in containers and after
// a reboot.
#include "base/ids.h"

#include <sys/random.h>

#include <array>
#include <cstdint>

#include "base/hex.h"

namespace fathom {

std::string random_id() {
  std::array<std::uint8_t, 16> bytes{};
  // 16 bytes come whole or not at all, and block only in the first second of a boot; a signal may
  // ask to try again.
  while (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
  }
  return to_hex(bytes);
}

}  // namespace fathom
