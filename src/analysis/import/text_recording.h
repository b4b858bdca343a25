// SPDX-License-Identifier: MIT
// A recording as a text that people write: for tests, for reports of faults, for examples. The
// lines are explained in docs/formats/foreign.md. Unlike files of other tools, it must be sound as
// a whole: the first mistake is an error that names its line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::analysis {

inline constexpr std::string_view kTextRecordingMark = "fathom recording 1";

// Makes the recording at `directory`, which must not exist. Gives the number of rows. `max_bytes`
// is as in ImportOptions.
Result<std::int64_t> write_text_recording(std::string_view text, const std::string& directory,
                                          std::uint64_t max_bytes = 0);

// Reads the text without making anything. For fuzzing.
Status check_text_recording(std::string_view text);

}  // namespace fathom::analysis
