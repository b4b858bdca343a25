// SPDX-License-Identifier: MIT
// Where a recording goes: its directory is made here, and nothing that exists is overwritten unless
// asked.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace fathom::session {

// "fathom-<program>-<time>.fathom", free of characters that hurt in a shell or a path.
[[nodiscard]] std::string default_name(std::string_view program, std::time_t time);

// The name with what its places stand for: %r is the rank, %h the host, %p our process, %% a %.
// kUsage where a % stands for nothing.
Result<std::string> expand_name(const std::string& asked);

// Keeps others that want the same place waiting: from before make_place until the recording is
// locked. Makes the directories above it. Nothing is held where the file system knows no locks.
Result<Fd> hold_place(const std::string& asked);

// Makes the directory, with those above it, and gives its absolute path. An empty `asked` takes the
// default name, with a number behind it where that exists. An `asked` that exists is kInvalid,
// unless `force`: then it is removed first if it is empty, or a recording that nobody writes.
Result<std::string> make_place(const std::string& asked, bool force, std::string_view program);

// Whether make_place would be refused for something that exists. Tells before anything else is
// done.
Status check_place(const std::string& asked, bool force);

}  // namespace fathom::session
