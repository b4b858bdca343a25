// SPDX-License-Identifier: MIT
// Names that no other run on any machine will have.
#pragma once

#include <string>

namespace fathom {

// 128 bits of the kernel's randomness as 32 hexadecimal digits.
[[nodiscard]] std::string random_id();

}  // namespace fathom
