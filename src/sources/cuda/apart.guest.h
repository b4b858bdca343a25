// SPDX-License-Identifier: MIT
// While one exists, what the driver does for us is not the program's: nothing of it is recorded.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest::cuda {

class Apart {
 public:
  Apart() { tls.apart++; }
  ~Apart() { tls.apart--; }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;
};

}  // namespace fathom::guest::cuda
