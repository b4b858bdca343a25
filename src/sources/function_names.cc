// SPDX-License-Identifier: MIT
// Gives `trace` a way to name functions without including `symbols`, which stands beside it and not
// below.
#include "sources/function_names.h"

#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "sources/debuginfod.h"
#include "symbols/symbolizer.h"
#include "symbols/vdso.h"
#include "trace/rows/frame_names.h"

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

trace::NamedPlace named(symbols::Module* module, const trace::CodePlace& place) {
  trace::NamedPlace found;
  if (module == nullptr) return found;
  found.readable = true;
  found.address = place.address ? place.address : module->address_of(place.offset);
  if (!found.address) return found;
  for (const symbols::Frame& frame : module->frames_at_address(*found.address))
    found.frames.push_back({std::string(frame.function), std::string(frame.file), frame.line});
  if (!found.frames.empty()) return found;
  // All places of a function without a name are called alike.
  const std::optional<std::uint64_t> begin = module->begin_of_function(*found.address);
  if (begin && *found.address - *begin <= place.offset) {
    const std::uint64_t offset = place.offset - (*found.address - *begin);
    found.frames.push_back(
        {trace::name_of_place(place.module, static_cast<std::int64_t>(offset)), "", 0});
  }
  return found;
}

// The kernel's own code in every process has no file; ours is that of all.
symbols::Module* vdso_module(std::optional<symbols::Module>& vdso) {
  if (vdso) return &*vdso;
  Result<std::string> image = symbols::vdso_image();
  if (!image) return nullptr;
  Result<symbols::Module> opened =
      symbols::Module::open_image(std::move(image).value(), symbols::kVdsoName);
  if (!opened) return nullptr;
  vdso.emplace(std::move(opened).value());
  return &*vdso;
}

}  // namespace

trace::NameResolver function_names(const std::shared_ptr<const symbols::KeptFiles>& files,
                                   const symbols::DebugPlaces& places) {
  auto symbolizer = std::make_shared<symbols::Symbolizer>(places);
  trace::NameResolver resolver;
  resolver.function = [symbolizer](const std::string& module, std::uint64_t offset) {
    Result<symbols::Symbol> found = symbolizer->find(module, offset);
    return found ? std::move(found->function) : std::string();
  };
  auto vdso = std::make_shared<std::optional<symbols::Module>>();
  resolver.frames = [symbolizer, vdso, files](const trace::CodePlace& place) {
    if (place.module == symbols::kVdsoName) return named(vdso_module(*vdso), place);
    symbols::ModuleId id;
    id.path = place.module;
    id.build_id = bytes_of(place.build_id);
    if (files) id.kept = files->find(id.path, id.build_id);
    return named(symbolizer->module(id), place);
  };
  return resolver;
}

trace::NameResolver names_by_build_id(std::vector<std::string> folders) {
  const std::string cache = debuginfod_cache();
  if (!cache.empty()) folders.push_back(cache);
  trace::NameResolver resolver =
      function_names(nullptr, {.folders = std::move(folders), .by_build_id_alone = true});
  auto asked = std::make_shared<std::set<std::string>>();
  resolver.frames = [asked, ask = std::move(resolver.frames)](const trace::CodePlace& place) {
    if (asked->insert(place.build_id).second) fetch_debuginfo(place.build_id);
    return ask(place);
  };
  return resolver;
}

}  // namespace fathom::sources
