// SPDX-License-Identifier: MIT
// Gives `trace` a way to name functions without including `symbols`, which stands beside it and not
// below.
#include "sources/function_names.h"

#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "symbols/symbolizer.h"
#include "symbols/vdso.h"

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

std::vector<trace::NamedFrame> named(std::span<const symbols::Frame> frames) {
  std::vector<trace::NamedFrame> all;
  for (const symbols::Frame& frame : frames)
    all.push_back({std::string(frame.function), std::string(frame.file), frame.line});
  return all;
}

// The kernel's own code in every process has no file; ours is that of all.
std::span<const symbols::Frame> frames_of_vdso(std::optional<symbols::Module>& vdso,
                                               std::uint64_t offset) {
  if (!vdso) {
    Result<std::string> image = symbols::vdso_image();
    if (!image) return {};
    Result<symbols::Module> opened =
        symbols::Module::open_image(std::move(image).value(), symbols::kVdsoName);
    if (!opened) return {};
    vdso.emplace(std::move(opened).value());
  }
  return vdso->frames_at(offset);
}

}  // namespace

trace::NameResolver function_names() {
  auto symbolizer = std::make_shared<symbols::Symbolizer>();
  trace::NameResolver resolver;
  resolver.function = [symbolizer](const std::string& module, std::uint64_t offset) {
    Result<symbols::Symbol> found = symbolizer->find(module, offset);
    return found ? std::move(found->function) : std::string();
  };
  auto vdso = std::make_shared<std::optional<symbols::Module>>();
  resolver.frames = [symbolizer, vdso](const std::string& module, const std::string& build_id,
                                       std::uint64_t offset) {
    const symbols::ModuleId id{
        .path = module, .build_id = bytes_of(build_id), .root = "", .segments = {}};
    return named(module == symbols::kVdsoName ? frames_of_vdso(*vdso, offset)
                                              : symbolizer->frames_at(id, offset));
  };
  return resolver;
}

}  // namespace fathom::sources
