// SPDX-License-Identifier: MIT
// Which data an application was given.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace fathom::containers {

// SHA-256 over names, kinds and contents of a file, or of all below a directory, in the order of
// their names; 64 digits. Links are not followed: their text counts. `go_on` is asked now and then;
// kDenied where it says false. Whatever cannot be read is an Error: a hash is of everything.
Result<std::string> hash_of_data(const std::string& path, const std::function<bool()>& go_on);

}  // namespace fathom::containers
