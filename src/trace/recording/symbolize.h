// SPDX-License-Identifier: MIT
// Names for places in a recording that had none when it was packed: the symbols lay on another
// machine, or were installed later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "trace/rows/name_resolver.h"

namespace fathom::trace {

// Counts of one recording or, added up, of several.
struct Symbolized {
  std::int64_t named = 0;    // frames that have a name now
  std::int64_t unnamed = 0;  // frames that still have none
  // Of these, by module and build id ("": it has none).
  std::map<std::pair<std::string, std::string>, std::int64_t> missing;

  void add(const Symbolized& other);
};

// One recording. Each file of frames is replaced by a whole one, or stays as it is, whatever
// happens meanwhile. kDenied for a recording of another user; kInvalid where it is not packed yet.
Result<Symbolized> symbolize(const std::string& recording, const NameResolver& resolver);

}  // namespace fathom::trace
