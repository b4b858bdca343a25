// SPDX-License-Identifier: MIT
// What layer python records of an application that is profiled, wherever it runs.
#pragma once

#include <string>
#include <vector>

#include "session/python_options.h"

namespace fathom::containers {

// All loops, and functions of the application: the interpreter's own start and its imports are
// none.
[[nodiscard]] inline session::PythonOptions python_choice() {
  return {.modules = {"-site", "-sitecustomize", "-usercustomize", "-importlib",
                      "-_frozen_importlib", "-_frozen_importlib_external", "-zipimport"},
          .loops = {"*"}};
}

// The same as options of `fathom run`.
[[nodiscard]] inline std::vector<std::string> python_words() {
  const session::PythonOptions choice = python_choice();
  std::string modules;
  for (const std::string& one : choice.modules) modules += (modules.empty() ? "" : ",") + one;
  return {"--python-loops", choice.loops[0], "--python-modules=" + modules};
}

}  // namespace fathom::containers
