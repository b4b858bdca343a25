// SPDX-License-Identifier: MIT
// Layers that are tried by loading them; what was loaded stays loaded, for the recording. Included
// by files that may know libbpf only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sources/ebpf/loading.h"

namespace fathom::sources::ebpf {

// Number of a function that does nothing: beyond those of the user.
inline constexpr std::uint32_t kNullNumber = 0x7fff00;

// The modules of a layer that this kernel takes.
struct LoadedLayer {
  std::vector<Loaded> modules;
  std::vector<std::string> missing;  // what it does without
};

// What was loaded to see whether it can be: at work for nobody.
struct Tried {
  std::optional<Loaded> lives;
  std::map<fathom_bpf_layer, LoadedLayer> layers;
  std::map<fathom_bpf_layer, Error> failed;
  std::optional<Error> refused;  // all of them
  double bare_call_ns = 0;
};

Result<LoadedLayer> load_layer(fathom_bpf_layer layer, const Loaded& first);

// What was tried since the last time.
Tried take_tried();

}  // namespace fathom::sources::ebpf
