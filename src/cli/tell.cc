// SPDX-License-Identifier: MIT
#include "cli/tell.h"

#include <cstdio>
#include <string>

#include "base/text.h"

namespace fathom::cli {

void tell(const Error& error) {
  std::string line = "fathom: " + error.message;
  if (!error.hint.empty()) line += "; " + error.hint;
  std::fprintf(stderr, "%s\n", escape_control(line).c_str());
}

}  // namespace fathom::cli
