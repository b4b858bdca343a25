// SPDX-License-Identifier: MIT
// The logs that users of Alnair's interposer read while their programs run, from the rows of the
// run as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "session/row_stream.h"

namespace fathom::cli {

// `directory` is the recording's, `start_ns` the date of ts 0. `folder` is where the logs of all
// processes go; "": where each of them says.
std::unique_ptr<session::StreamTaker> alnair_files(const std::string& directory,
                                                   std::int64_t start_ns,
                                                   const std::string& folder = "");

}  // namespace fathom::cli
