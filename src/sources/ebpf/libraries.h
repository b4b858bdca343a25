// SPDX-License-Identifier: MIT
// Where the loader finds libraries.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::sources::ebpf {

// kNotFound where there is none. A path as it is, without links; a name where the loader
// looks for it: in `places` first, then in those of LD_LIBRARY_PATH and of the machine.
Result<std::string> find_file(const std::string& name, const std::vector<std::string>& places = {});

// Whether it is a part of the C library, by the name that the file has for itself (SONAME).
bool is_of_c_library(std::string_view name);

}  // namespace fathom::sources::ebpf
