// SPDX-License-Identifier: MIT
// Builds the "sudo …" lines of hints. A line with shell operators needs a shell of root's own, or
// the user's shell would run its second half.
#include "base/privilege.h"

#include <unistd.h>

namespace fathom {

std::string as_root(std::string_view line) {
  if (geteuid() == 0) return std::string(line);
  // A shell's operators would be read by the user's own shell.
  if (line.find_first_of("&|;<>") != std::string_view::npos)
    return "sudo sh -c '" + std::string(line) + "'";
  return "sudo " + std::string(line);
}

}  // namespace fathom
