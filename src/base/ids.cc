// SPDX-License-Identifier: MIT
// Run ids come from getrandom and from nothing else: clocks and pids repeat in containers and after
// a reboot.
#include "base/ids.h"

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace fathom {

std::string random_id() {
  std::array<std::uint8_t, 16> bytes{};
  // 16 bytes come whole or not at all, and block only in the first second of a boot; a signal may
  // ask to try again.
  while (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id;
  for (const unsigned byte : bytes) {
    id += kDigits[byte >> 4U];
    id += kDigits[byte & 15U];
  }
  return id;
}

}  // namespace fathom
