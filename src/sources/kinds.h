// SPDX-License-Identifier: MIT
// The ranges of kinds that the in-process sources use: 11 bits in all, 0 to 31 are the format's
// own.
#pragma once

namespace fathom::guest {

enum : unsigned { kFirstPosixKind = 32, kFirstStdioKind = 512 };

}  // namespace fathom::guest
