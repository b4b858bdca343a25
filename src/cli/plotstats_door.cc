// SPDX-License-Identifier: MIT
// Adds to the command line of plotstats.py what that script assumes: the current directory, and a
// picture in it. main.cc calls this where the program has that name.
#include "cli/plotstats_door.h"

#include <algorithm>

#include "base/files.h"

namespace fathom::cli {

bool is_plotstats(std::string_view program) {
  const std::string_view name = base_name(program);
  return name == "plotstats" || name == "plotstats.py";
}

std::vector<std::string> plotstats_words(std::vector<std::string> words) {
  const auto is_output = [](const std::string& word) {
    return word.starts_with("-o") || word.starts_with("--output");
  };
  const bool asks_help = std::ranges::find(words, "--help") != words.end() ||
                         std::ranges::find(words, "-h") != words.end();
  if (asks_help) return words;
  const bool has_output = std::ranges::any_of(words, is_output);
  const bool has_folder = !words.empty() && !words.front().starts_with("-");
  if (!has_folder) words.insert(words.begin(), ".");
  if (!has_output) words.insert(words.end(), {"-o", join_path(words.front(), "plotstats.svg")});
  return words;
}

}  // namespace fathom::cli
