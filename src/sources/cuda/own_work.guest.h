// SPDX-License-Identifier: MIT
// While one exists, what the driver does for us is not the program's: nothing of it is recorded,
// and no capture into a graph is disturbed by it, of whichever thread. The driver refuses in a
// capture whatever might allocate or load, and a capture that met such a call is invalid; a thread
// whose mode is relaxed is not held to that. A stream that captures is not asked about at all.
#pragma once

#include "guest/runtime.h"
#include "sources/cuda/driver.guest.h"
#include "sources/cuda/state.guest.h"

namespace fathom::guest::cuda {

// Of the thread that makes it; nests.
class OwnWork {
 public:
  OwnWork() {
    tls.outside++;
    if (FATHOM_UNLIKELY(captures_go_on()) && asked.capture_mode != nullptr)
      relaxed_ = asked.capture_mode(&mode_) == 0;
  }
  ~OwnWork() {
    if (relaxed_) asked.capture_mode(&mode_);
    tls.outside--;
  }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  int mode_ = 2;  // relaxed; then the one that was there
  bool relaxed_ = false;
};

}  // namespace fathom::guest::cuda
