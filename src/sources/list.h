// SPDX-License-Identifier: MIT
// The sources of this build, those of wire/sources.h and those of the host (list.cc), and the layers that Fathom knows whether or not this build can record
// them.
#pragma once

#include <span>
#include <string_view>

#include "sources/source.h"
#include "trace/rows/layers.h"

namespace fathom::sources {

[[nodiscard]] std::span<const SourceDef* const> sources();

using trace::LayerDef;

// trace/rows/layers.h: top down.
[[nodiscard]] std::span<const LayerDef> layers();
[[nodiscard]] const LayerDef* find_layer(std::string_view name);  // nullptr: no such layer

// The source that records a layer; nullptr where this version has none.
[[nodiscard]] const SourceDef* source_of(std::string_view layer);

// Whether the layer can be recorded: "not in this version" where no source has it, else what its
// source says.
[[nodiscard]] Availability probe_layer(std::string_view layer);

// Whether GPUs are sampled with layer resource, and which; why not.
[[nodiscard]] Availability probe_gpus();

}  // namespace fathom::sources
