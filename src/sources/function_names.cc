// SPDX-License-Identifier: MIT
// Gives `trace` a way to name functions without including `symbols`, which stands beside it and not
// below.
#include "sources/function_names.h"

#include <charconv>
#include <memory>
#include <utility>

#include "symbols/symbolizer.h"

namespace fathom::sources {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    unsigned char byte = 0;
    (void)std::from_chars(hex.data() + at, hex.data() + at + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

trace::NameResolver function_names() {
  auto symbolizer = std::make_shared<symbols::Symbolizer>();
  trace::NameResolver resolver;
  resolver.function = [symbolizer](const std::string& module, std::uint64_t offset) {
    Result<symbols::Symbol> found = symbolizer->find(module, offset);
    return found ? std::move(found->function) : std::string();
  };
  resolver.frames = [symbolizer](const std::string& module, const std::string& build_id,
                                 std::uint64_t offset) {
    std::vector<trace::NamedFrame> named;
    const symbols::ModuleId id{.path = module, .build_id = bytes_of(build_id)};
    for (const symbols::Frame& frame : symbolizer->frames_at(id, offset))
      named.push_back({std::string(frame.function), std::string(frame.file), frame.line});
    return named;
  };
  return resolver;
}

}  // namespace fathom::sources
