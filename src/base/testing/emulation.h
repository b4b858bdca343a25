// SPDX-License-Identifier: MIT
// What qemu-user does not do as a machine would (./dev cross).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

// Leaves the test out under emulation, for a reason that stands in the report.
#define FATHOM_SKIP_UNDER_EMULATION(reason) \
  if (std::getenv("FATHOM_EMULATED") != nullptr) GTEST_SKIP() << "qemu-user: " << (reason)
