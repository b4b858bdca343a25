// SPDX-License-Identifier: MIT
// The files that DFTracer's programs expect, from the rows of their run as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convert/drop_in_places.h"
#include "session/stream/row_stream.h"

namespace fathom::convert {

// `start_ns` is the date of ts 0. `state_path` is a file that nobody else can write to, for whoever
// goes on after a collector that was killed; "": nobody can.
std::unique_ptr<session::RowConsumer> dftracer_files(std::string state_path, std::int64_t start_ns,
                                                     DropInPlaceOf place_of);

}  // namespace fathom::convert
