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
                           "memcpy", "pthread_key_create", "stdout", "environ"})
    EXPECT_EQ(find_behind_us(name), dlsym(RTLD_NEXT, name)) << name;
}

// Libraries that came later are not visited: they may go while somebody looks.
TEST(Loaded, TheFirstObjectsAreThoseOfTheFirstLook) {
  const auto count = [](Objects which) {
    int visited = 0;
    const auto add = [](const Loaded&, void* to) {
      ++*static_cast<int*>(to);
      return false;
    };
    visit_loaded(add, &visited, which);
    return visited;
  };
  note_first_loaded();
  const int first = count(Objects::kFirst);
  EXPECT_EQ(first, count(Objects::kAll));
  void* const later = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
  if (later == nullptr || count(Objects::kAll) == first) GTEST_SKIP() << "nothing to load";
  note_first_loaded();
  EXPECT_EQ(count(Objects::kFirst), first);
  EXPECT_EQ(find_behind_us("pread", Objects::kFirst), dlsym(RTLD_NEXT, "pread"));
  dlclose(later);
}

TEST(Loaded, WhatNobodyDefinesIsNothing) {
  for (const char* name : {"", "fathom_no_such_function", "errno"})
    EXPECT_EQ(find_behind_us(name), nullptr) << name;
}

}  // namespace
}  // namespace fathom::guest
