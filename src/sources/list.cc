// SPDX-License-Identifier: MIT
// The explicit list of sources. Static constructors would be dropped by the linker of a static
// library; a list can be read and has an order.
#include "sources/list.h"

#include <algorithm>

#include "wire/sources.h"

namespace fathom::sources {

#define ROW(number, NAME, space, ...) \
  namespace space {                   \
  extern const SourceDef kSource;     \
  }
FATHOM_SOURCE_ROWS(ROW)
#undef ROW
extern const SourceDef kEbpf;
extern const SourceDef kResources;

namespace {

const SourceDef* const kSources[] = {
#define ROW(number, NAME, space, ...) &space::kSource,
    FATHOM_SOURCE_ROWS(ROW)
#undef ROW
        & kEbpf,
    &kResources,
};

}  // namespace

std::span<const SourceDef* const> sources() { return kSources; }
std::span<const LayerDef> layers() { return trace::kLayers; }

const LayerDef* find_layer(std::string_view name) { return trace::find_layer(name); }

const SourceDef* source_of(std::string_view layer) {
  for (const SourceDef* source : kSources) {
    if (std::ranges::find(source->layers, layer) != source->layers.end()) return source;
  }
  return nullptr;
}

Availability probe_layer(std::string_view layer) {
  const SourceDef* source = source_of(layer);
  if (source == nullptr) return {.available = false, .reason = "not in this version", .fix = ""};
  return source->probe(layer);
}

}  // namespace fathom::sources
