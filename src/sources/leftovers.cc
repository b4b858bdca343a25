// SPDX-License-Identifier: MIT
#include "sources/leftovers.h"

#include "sources/library.h"
#include "trace/recording.h"

namespace fathom::sources {

void pack_leftovers(const std::string& path, const trace::NameResolver& resolver) {
  const Result<std::string> library = find_library();
  (void)trace::recover(path, {.resolver = resolver, .library = library ? *library : ""})
      .has_value();
}

}  // namespace fathom::sources
