// SPDX-License-Identifier: MIT
// Gives `trace` a way to name functions without including `symbols`, which stands beside it and not
// below.
#include "sources/function_names.h"

#include <memory>

#include "symbols/symbolizer.h"

namespace fathom::sources {

trace::NameResolver function_names() {
  auto symbolizer = std::make_shared<symbols::Symbolizer>();
  trace::NameResolver resolver;
  resolver.function = [symbolizer](const std::string& module, std::uint64_t offset) {
    Result<symbols::Symbol> found = symbolizer->find(module, offset);
    return found ? std::move(found->function) : std::string();
  };
  return resolver;
}

}  // namespace fathom::sources
