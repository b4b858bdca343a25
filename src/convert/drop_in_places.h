// SPDX-License-Identifier: MIT
// Where the files of a process go that was made for another tool.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "session/stream/row_stream.h"

namespace fathom::convert {

struct DropInPlace {
  std::string log;       // the prefix of DFTracer's files, the directory of Alnair's
  bool by_hand = false;  // the user named it now: nothing that lies there is replaced
};

// None: nobody who may say so does.
using DropInPlaceOf = std::function<std::optional<DropInPlace>(const session::StreamProcess&)>;

}  // namespace fathom::convert
