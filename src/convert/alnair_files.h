// SPDX-License-Identifier: MIT
// The logs that users of Alnair's interposer read while their programs run, from the rows of the
// run as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convert/drop_in_places.h"
#include "session/stream/row_stream.h"

namespace fathom::convert {

// `start_ns` is the date of ts 0. `state_path` is a file that nobody else can write to, for whoever
// goes on after a collector that was killed; "": nobody can.
std::unique_ptr<session::RowConsumer> alnair_files(std::string state_path, std::int64_t start_ns,
                                                   DropInPlaceOf place_of);

}  // namespace fathom::convert
