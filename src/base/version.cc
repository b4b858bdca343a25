// SPDX-License-Identifier: MIT
#include "base/version.h"

namespace fathom {

std::string_view version() { return FATHOM_VERSION; }

}  // namespace fathom
