// SPDX-License-Identifier: MIT
// The explicit list of sources. Static constructors would be dropped by the linker of a static
// library; a list can be read and has an order.
#include "sources/list.h"

#include <algorithm>

namespace fathom::sources {

extern const SourceDef kAnnotate;
extern const SourceDef kPython;
extern const SourceDef kStdio;
extern const SourceDef kPosix;
extern const SourceDef kHeap;
extern const SourceDef kEbpf;
extern const SourceDef kCuda;
extern const SourceDef kGpu;
extern const SourceDef kResources;

namespace {

const SourceDef* const kSources[] = {
    &kAnnotate, &kPython, &kStdio, &kPosix, &kHeap, &kEbpf, &kCuda, &kGpu, &kResources,
};

}  // namespace

std::span<const SourceDef* const> sources() { return kSources; }
std::span<const LayerDef> layers() { return trace::kLayers; }

const LayerDef* find_layer(std::string_view name) {
  const auto* const found = std::ranges::find(trace::kLayers, name, &LayerDef::name);
  return found == std::end(trace::kLayers) ? nullptr : found;
}

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
