// SPDX-License-Identifier: MIT
// Shows an address in the user's browser, where there is a display.
#pragma once

#include <string>

#include "base/scratch.h"

namespace fathom::cli {

// What the browser is given lies in a private file until this goes: a command line is everybody's
// to read, and the address has a token in it.
class OpenedBrowser {
 public:
  void open(const std::string& url);

 private:
  ScratchDirectory room_;
};

}  // namespace fathom::cli
