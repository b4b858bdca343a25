// SPDX-License-Identifier: MIT
// Checks the --python-… options and turns them into the variables that the library reads.
#include "session/python_options.h"

#include <algorithm>
#include <cctype>

#include "base/files.h"
#include "base/text.h"

namespace fathom::session {
namespace {

constexpr std::string_view kModules = "FATHOM_PYTHON_MODULES";
constexpr std::string_view kPaths = "FATHOM_PYTHON_PATHS";
constexpr std::string_view kDepth = "FATHOM_PYTHON_DEPTH";
constexpr std::string_view kMin = "FATHOM_PYTHON_MIN";
constexpr std::string_view kCCalls = "FATHOM_PYTHON_C";
constexpr std::string_view kLoops = "FATHOM_PYTHON_LOOPS";
constexpr std::string_view kTurns = "FATHOM_PYTHON_TURNS";
constexpr std::size_t kMostText = 4000;  // what the library keeps of a list

bool is_duration(std::string_view text) {
  const auto digit = [](char letter) { return std::isdigit(static_cast<unsigned char>(letter)); };
  const auto end = std::ranges::find_if_not(text, digit);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.begin()));
  constexpr std::string_view kUnits[] = {"", "ns", "us", "ms", "s"};
  return end != text.begin() && end - text.begin() < 16 &&
         std::ranges::find(kUnits, unit) != std::end(kUnits);
}

Result<std::string> list(std::string_view option, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.empty() || word == "-")
      return usage_error("there is an empty word in " + std::string(option),
                         "separate words by commas; -word leaves one out");
  }
  std::string text = join(words, ",");
  if (text.size() > kMostText)
    return usage_error(std::string(option) + " is too long", "use * and ? to name many at once");
  return text;
}

Result<std::vector<std::string>> absolute(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const std::string& path : paths) {
    const bool excludes = path.starts_with('-');
    const std::string plain = excludes ? path.substr(1) : path;
    if (plain.empty()) {
      result.push_back(path);
      continue;
    }
    FATHOM_ASSIGN(const std::string whole, absolute_path(plain));
    result.push_back((excludes ? "-" : "") + whole);
  }
  return result;
}

}  // namespace

bool PythonOptions::any() const {
  return !modules.empty() || !paths.empty() || depth != 0 || !min.empty() || c_calls ||
         !loops.empty() || turns != 0;
}

std::vector<std::string_view> python_variable_names() {
  return {kModules, kPaths, kDepth, kMin, kCCalls, kLoops, kTurns};
}

Result<std::vector<std::string>> python_variables(const PythonOptions& options) {
  std::vector<std::string> variables;
  const auto add = [&variables](std::string_view name, const std::string& value) {
    if (!value.empty()) variables.push_back(std::string(name) + "=" + value);
  };
  if (options.depth < 0) return usage_error("--python-depth must be at least 1");
  if (options.turns < 0) return usage_error("--python-turns must be at least 1");
  if (!options.min.empty() && !is_duration(options.min))
    return usage_error("--python-min '" + options.min + "' is not a time",
                       "write it as 10us, 1ms or 2s");
  if (options.turns != 0 && options.loops.empty())
    return usage_error("--python-turns needs --python-loops",
                       "name the modules whose loops to time, or '*'");
  FATHOM_ASSIGN(const std::string modules, list("--python-modules", options.modules));
  FATHOM_ASSIGN(const std::vector<std::string> whole, absolute(options.paths));
  FATHOM_ASSIGN(const std::string paths, list("--python-paths", whole));
  FATHOM_ASSIGN(const std::string loops, list("--python-loops", options.loops));
  add(kModules, modules);
  add(kPaths, paths);
  add(kDepth, options.depth != 0 ? std::to_string(options.depth) : "");
  add(kMin, options.min);
  add(kCCalls, options.c_calls ? "1" : "");
  add(kLoops, loops);
  add(kTurns, options.turns != 0 ? std::to_string(options.turns) : "");
  return variables;
}

}  // namespace fathom::session
