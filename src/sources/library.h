// SPDX-License-Identifier: MIT
// libfathom.so, which carries every in-process source, and those that carry more: libfathom_heap.so
// heap, libpfinterpose.so what Alnair's logs need, libpfinterpose_heap.so both. Where they are, and
// whether they can be preloaded.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sources/source.h"

namespace fathom::sources {

inline constexpr std::string_view kHeapLayer = "heap";
inline constexpr std::string_view kAlnairLogs = "alnair";  // no layer: a drop-in
inline constexpr std::string_view kHeapAndAlnairLogs = "heap,alnair";

// The absolute path of the one for that layer, drop-in or both, beside this program or in ../lib.
// An error tells where it was looked for.
Result<std::string> find_library(std::string_view layer = {});

// What find_library says, as the availability of an in-process source.
[[nodiscard]] Availability probe_library(std::string_view layer = {});

// The same by trying: a child loads the library. Call before any thread is started.
[[nodiscard]] Availability try_library();

// A file of that name that a package or another build left in one of the usual places (PATH, its
// lib folders, /usr/local/lib, /usr/lib); "" where there is none.
[[nodiscard]] std::string find_elsewhere(const std::string& name);

}  // namespace fathom::sources
