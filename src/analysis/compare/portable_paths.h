// SPDX-License-Identifier: MIT
// Paths that mean the same in runs of two checkouts.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace fathom::analysis {

// The directory that holds both, by text; "" where only the root does or one is not absolute.
[[nodiscard]] std::string common_directory(const std::string& a, const std::string& b);

// For working directories of runs, what each counts as its root: the directory less what all of
// them end with. /a/build and /b/build give /a and /b, so that /a/src is found again as /b/src.
// Where all are the same, they are the roots.
[[nodiscard]] std::vector<std::string> roots_of(std::span<const std::string> directories);

// "./in.dat" below the root, "<recording>/x" in the recording itself, any other as it is. A root
// "" or "/" is none.
[[nodiscard]] std::string portable_path(const std::string& path, const std::string& root,
                                        const std::string& recording);

}  // namespace fathom::analysis
