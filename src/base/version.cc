// SPDX-License-Identifier: MIT
// The only file that is compiled again when the version changes.
#include "base/version.h"

namespace fathom {

std::string_view version() { return FATHOM_VERSION; }

}  // namespace fathom
