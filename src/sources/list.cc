// SPDX-License-Identifier: MIT
// The explicit list of sources. Static constructors would be dropped by the linker of a static
// library; a list can be read and has an order.
#include "sources/list.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "sources/expect.h"
#include "wire/sources.h"

namespace fathom::sources {

#define ROW(number, NAME, space, ...) \
  namespace space {                   \
  extern const SourceDef kSource;     \
  }
FATHOM_SOURCE_ROWS(ROW)
#undef ROW
extern const SourceDef kEbpf;
void expect_ebpf(std::span<const std::string_view> layers);
extern const SourceDef kResources;
extern const SourceDef kCpu;

namespace {

const SourceDef* const kSources[] = {
#define ROW(number, NAME, space, ...) &space::kSource,
    FATHOM_SOURCE_ROWS(ROW)
#undef ROW
        & kEbpf,
    &kCpu,
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

namespace {

// Sources that take long to be tried.
struct Expecting {
  const SourceDef* source;
  void (*expect)(std::span<const std::string_view> layers);
};
constexpr Expecting kExpecting[] = {{&kEbpf, expect_ebpf}};

}  // namespace

void expect_layers(std::span<const std::string_view> layers) {
  for (const Expecting& one : kExpecting) {
    std::vector<std::string_view> own;
    std::ranges::copy_if(layers, std::back_inserter(own),
                         [&](std::string_view layer) { return source_of(layer) == one.source; });
    if (!own.empty()) one.expect(own);
  }
}

Availability probe_layer(std::string_view layer) {
  const SourceDef* source = source_of(layer);
  if (source == nullptr) return {.available = false, .reason = "not in this version", .fix = ""};
  return source->probe(layer);
}

}  // namespace fathom::sources
