// SPDX-License-Identifier: MIT
#include "guest/loaded.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace fathom::guest {
namespace {

// Of the default version where there are several (realpath, fmemopen, posix_spawn), chosen by a
// resolver where the processor decides (strlen, memcpy, time).
TEST(Loaded, NamesMeanWhatDlsymSays) {
  for (const char* name : {"pread", "read", "realpath", "fmemopen", "posix_spawn", "strlen",
                           "memcpy", "time", "pthread_key_create", "stdout", "environ"})
    EXPECT_EQ(find_behind_us(name), dlsym(RTLD_NEXT, name)) << name;
}

TEST(Loaded, WhatNobodyDefinesIsNothing) {
  for (const char* name : {"", "fathom_no_such_function", "errno"})
    EXPECT_EQ(find_behind_us(name), nullptr) << name;
}

}  // namespace
}  // namespace fathom::guest
