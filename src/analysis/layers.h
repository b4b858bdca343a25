// SPDX-License-Identifier: MIT
// What layers are (trace/rows/layers.h), for those who stand above analysis.
#pragma once

#include "trace/rows/layers.h"

namespace fathom::analysis {

using trace::find_layer;
using trace::is_code;
using trace::is_device;
using trace::is_io;
using trace::kLayers;
using trace::LayerDef;

}  // namespace fathom::analysis
