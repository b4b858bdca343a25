// SPDX-License-Identifier: MIT
// The program under its second name, `datacrumbs`: scripts that start DataCrumbs start `fathom
// watch`, with DataCrumbs' defaults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

// Whether the program was started by that name.
[[nodiscard]] bool is_datacrumbs(std::string_view program);

struct DatacrumbsDoor {
  enum class Action { kRun, kStart, kStop };
  Action action = Action::kRun;
  std::vector<std::string> words;  // of `fathom watch`
};
// What words of DataCrumbs mean: `run|start|stop [CONFIG] [OPTION…]`, `module=CONFIG`. What is
// unknown is left to `watch`.
Result<DatacrumbsDoor> read_datacrumbs(const std::vector<std::string>& words);

// In the background: 0 once programs can connect. `watch` runs in a child.
Result<int> start_in_background(const std::vector<std::string>& words,
                                Result<int> (*watch)(std::vector<std::string>));
// Ends the daemon, and returns when it has ended.
Result<int> stop_daemon();

}  // namespace fathom::cli
