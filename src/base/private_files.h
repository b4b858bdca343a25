// SPDX-License-Identifier: MIT
// Who may read a recording. It is the user's alone (directories 0700, files 0600), whatever the
// umask says. One that is shared with a group says so by its directory (mode 02750): what is made
// inside follows it (02750 and 0640), and others still see nothing.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace fathom {

// A directory that must not exist, for this user alone.
Status make_private_dir(const std::string& path);
// A directory inside a recording; as private as that.
Status make_inner_dir(const std::string& path);

// Opens a file inside a recording, and makes it where it is missing; as private as the recording.
// `flags` as open(2); O_CREAT is added.
Result<File> open_private(const std::string& path, int flags);
// The same for a file that was just made, at this path or in this directory.
void make_private(int fd, const std::string& path);
void make_private(int fd, int directory);
// As write_file_atomic.
Status write_private_atomic(const std::string& path, std::string_view content);

// The group of that name or number. kDenied where this process is not in it: the kernel would not
// let it give files to the group.
Result<gid_t> find_own_group(const std::string& name);
// Shares a directory, and whatever it holds so far, with the group. Follows no links.
Status share_with(const std::string& directory, gid_t group);

}  // namespace fathom
