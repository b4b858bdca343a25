// SPDX-License-Identifier: MIT
// What a recording says of functions that were asked for and are not recorded whole.
#pragma once

#include <string>
#include <vector>

#include "sources/ebpf/functions.h"
#include "sources/ebpf/shared.h"
#include "trace/decode/decoder.h"

namespace fathom::sources::ebpf {

// Of a layer: "" where all are. `knows_programs`: times of Times::kInPlainPrograms are known
// somewhere.
std::string lack_of(const Functions& functions, fathom_bpf_layer layer, bool knows_programs);

// A loss for each function without a probe; of very many, one for the rest.
std::vector<trace::Loss> losses_of(const std::vector<Unprobed>& unprobed);

}  // namespace fathom::sources::ebpf
