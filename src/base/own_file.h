// SPDX-License-Identifier: MIT
// Files of this user in places where others may write, too. What another user put there under the
// file's name, a link to somewhere, a FIFO, is an error and is not touched.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace fathom {

// `flags` as open(2). A regular file of this user that has no other name.
Result<File> open_own_file(const std::string& path, int flags, mode_t mode = 0666);

// An empty file that was not there before.
Status make_own_file(const std::string& path);

// The whole content of one that nobody else can read or write; an error where it is larger.
Result<std::string> read_private_file(const std::string& path, std::size_t most);

// Whether this is a directory of this user, no link, and closed to others.
[[nodiscard]] bool is_private_directory(const std::string& path);

// Whether nobody but this user and root can exchange a directory on the way to `path`, which has no
// links, nor what lies in the last one and is not theirs.
[[nodiscard]] bool is_way_kept(const std::string& path);

}  // namespace fathom
