// SPDX-License-Identifier: MIT
// Several applications side by side, by the profiles that they left: one line for each.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/application/profile.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

inline constexpr char kProfileFile[] = "profile.json";  // in a folder of results

// What one line is made of.
struct ProfileFigures {
  std::string name;  // in the table; whoever compares decides
  std::string title = {};
  std::vector<ContainerRun> runs = {};
  std::vector<std::pair<std::string, Amount>> needs = {};  // by their names in profile.json
  Quantities requests = {}, limits = {};
  std::optional<double> overhead = {};  // ratio
  bool is_checked = false;              // somebody said when a run is a success
};

[[nodiscard]] ProfileFigures figures_of(const Profile& profile);

// From the text of a profile.json (docs/formats/profile.md). Whatever is missing there, or is of
// another type, is not measured; kCorrupt: it is no profile at all. Recordings are names of files
// beside it, or empty.
Result<ProfileFigures> read_figures(std::string_view json);

// Of the folder, or of the file itself.
Result<ProfileFigures> load_figures(const std::string& path);

// In the order given. The wall time is the median of plain runs, of probed ones where there are
// none.
[[nodiscard]] Table comparison_table(std::span<const ProfileFigures> all);

// One of them as a sentence: "1.2 s, 0.98 cores (peak 1), 34 MiB (peak 50 MiB)".
[[nodiscard]] std::string short_words(const ProfileFigures& one);

}  // namespace fathom::analysis
