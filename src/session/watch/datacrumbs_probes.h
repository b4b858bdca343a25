// SPDX-License-Identifier: MIT
// What the probes in DataCrumbs' files of settings (`capture_probes`, `system`) are here.
#pragma once

#include <string>

namespace fathom::session {

// As the file has it; "": not given.
struct DatacrumbsProbe {
  std::string name, probe, type, regex, file, provider;
};

struct ProbeMeaning {
  std::string layer = {};     // to be recorded if it can; "": none
  std::string function = {};  // of it; "": all that the layer has
  bool has_category = false;  // the probe's name is the function's category
  std::string absent = {};    // what was named and is not here
};
[[nodiscard]] ProbeMeaning meaning_of(const DatacrumbsProbe& probe);

}  // namespace fathom::session
