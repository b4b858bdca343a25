// SPDX-License-Identifier: MIT
// Opens recordings that a URL names and keeps them open until the program ends: commands hold paths
// alone, and the files behind them come while questions are asked.
#include "cli/far_trace.h"

#include <map>

#include "base/file_limit.h"
#include "cli/question_guard.h"
#include "fleet/recordings/far_recording.h"
#include "fleet/recordings/far_word.h"

namespace fathom::cli {
namespace {

using Opened = std::map<std::string, std::shared_ptr<fleet::FarRecording>, std::less<>>;

// By word: each is opened once, however often it is named.
Opened& opened() {
  static Opened all;
  return all;
}

}  // namespace

bool is_far_trace(std::string_view word) { return fleet::is_far_word(word); }

Result<std::string> open_far_trace(const std::string& word) {
  if (const auto found = opened().find(word); found != opened().end())
    return found->second->directory();
  guard_questions();  // who is stopped by a signal from now on removes the directory
  raise_file_limit();
  FATHOM_ASSIGN(std::shared_ptr<fleet::FarRecording> far, fleet::open_far_recording(word));
  opened().emplace(word, far);
  return far->directory();
}

}  // namespace fathom::cli
