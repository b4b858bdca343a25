// SPDX-License-Identifier: MIT
// Programs that tests compile, to look into what a compiler and its tools really write.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "base/files.h"
#include "base/text.h"

namespace fathom::symbols::testing {

// Runs a shell command in a folder; true when it succeeds. What it prints lies in folder/log.
inline bool run(const std::string& folder, const std::string& command) {
  const int status =
      std::system(("cd " + shell_quote(folder) + " && { " + command + "; } >log 2>&1").c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A fresh folder of the test's own.
inline std::string fresh_folder(const std::string& name) {
  std::string folder = ::testing::TempDir() + "/symbols_" + name;
  EXPECT_TRUE(remove_tree(folder));
  EXPECT_TRUE(make_dirs(folder));
  return folder;
}

// Compiles folder/NAME.cc to folder/NAME. False where there is no compiler, or it does not know a
// flag: the test is left out.
inline bool compile(const std::string& folder, const std::string& name, const std::string& source,
                    const std::string& flags) {
  const std::string path = folder + "/" + name;
  return write_file_atomic(path + ".cc", source).has_value() &&
         run(folder, "c++ " + flags + " -o " + name + " " + name + ".cc");
}

}  // namespace fathom::symbols::testing

// Leaves the test out where the program cannot be made, with what the compiler said.
#define FATHOM_COMPILE(folder, name, source, flags)                    \
  if (!fathom::symbols::testing::compile(folder, name, source, flags)) \
  GTEST_SKIP() << "cannot compile with " << (flags) << ": "            \
               << fathom::read_file(std::string(folder) + "/log").value()
