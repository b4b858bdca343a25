// SPDX-License-Identifier: MIT
// What a user may write where a recording is wanted: a recording, a directory of recordings, `last`
// for the newest one, one on a server, or a trace of another tool, which is imported for as long as
// this process lives.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::cli {

// What the word stands for, in messages and help.
constexpr char kTraceHelp[] =
    "a recording, a directory of recordings, 'last' for the newest, URL/recordings/NAME on a "
    "server, "
    "or a trace of another tool";

// The path to open. The word itself where it is a directory or nothing that we know: whoever opens
// it says what is wrong with it.
Result<std::string> find_trace(const std::string& word);

}  // namespace fathom::cli
