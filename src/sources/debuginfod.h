// SPDX-License-Identifier: MIT
// Symbols that debuginfod's own client has fetched, or fetches for us where the user named servers
// (DEBUGINFOD_URLS). Fathom itself asks no network.
#pragma once

#include <string>

namespace fathom::sources {

// The folder in which debuginfod's clients keep what they fetched; "": there is none.
[[nodiscard]] std::string debuginfod_cache();

// Lets `debuginfod-find` look for the symbols of a build id, in hexadecimal digits; what it finds
// lies in the cache then. Does nothing where DEBUGINFOD_URLS is not set or there is no such
// program.
void fetch_debuginfo(const std::string& build_id);

}  // namespace fathom::sources
