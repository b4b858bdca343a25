// SPDX-License-Identifier: MIT
// The sentence for a build without the fleet. cmake/fleet.cmake says which libraries are missing
// and hands the words over; fleet_none.cc declares the commands that say it.
#include "cli/fleet_lacks.h"

#include <string>
#include <vector>

#include "cli/parser.h"

// Of cmake/fleet.cmake; "" where nothing is lacking.
#ifndef FATHOM_FLEET_LACKS
#define FATHOM_FLEET_LACKS ""
#endif

namespace fathom::cli {

Error what_fleet_lacks() {
  const std::string reason = FATHOM_FLEET_LACKS;
  return {Code::kUnsupported,
          "this build of Fathom has no server, jobs, agents or containers" +
              (reason.empty() ? "" : ": " + reason),
          "build it where libboost1.81-dev, libssl-dev and libsqlite3-dev are installed"};
}

Result<int> tell_what_fleet_lacks(Parser& parser) {
  std::vector<std::string> words;
  parser.optional_tail("ARGUMENT", words, "not available in this build");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  return what_fleet_lacks();
}

}  // namespace fathom::cli
