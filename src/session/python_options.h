// SPDX-License-Identifier: MIT
// What of layer python is recorded: options of `fathom run`, which the library gets as variables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::session {

// What the user asked of layer python, as typed.
struct PythonOptions {
  std::vector<std::string> modules = {};  // only functions of these; "-name" leaves out; * and ?
  std::vector<std::string> paths = {};    // only of files at or below these; "-path" leaves out
  std::int64_t depth = 0;                 // frames inside each other; 0: all
  std::string min = {};                   // the shortest function: "10us"; "": all
  bool c_calls = false;                   // functions of C, too
  std::vector<std::string> loops = {};    // modules whose loops are timed
  std::int64_t turns = 0;                 // of a loop, that are events of their own

  [[nodiscard]] bool any() const;
};

// The names of all variables that python_variables can give.
[[nodiscard]] std::vector<std::string_view> python_variable_names();

// NAME=value each; paths become absolute. What cannot be meant is a usage error.
Result<std::vector<std::string>> python_variables(const PythonOptions& options);

}  // namespace fathom::session
