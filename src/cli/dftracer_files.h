// SPDX-License-Identifier: MIT
// The files that DFTracer's programs expect, from the rows of their run as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "session/row_stream.h"

namespace fathom::cli {

// `directory` is the recording's, `start_ns` the date of ts 0.
std::unique_ptr<session::StreamTaker> dftracer_files(const std::string& directory,
                                                     std::int64_t start_ns);

}  // namespace fathom::cli
