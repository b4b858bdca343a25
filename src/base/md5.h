// SPDX-License-Identifier: MIT
// MD5 (RFC 1321), for formats of others that name things by it. No protection against anybody.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fathom {

[[nodiscard]] std::array<std::uint8_t, 16> md5(std::string_view bytes);

}  // namespace fathom
