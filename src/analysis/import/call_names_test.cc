// SPDX-License-Identifier: MIT
#include "analysis/import/call_names.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

TEST(CallName, PlainNamesCategoriesAndResults) {
  struct Case {
    const char* layer;
    const char* name;
    const char* plain;
    const char* category;
    CallResult result;
  };
  const Case cases[] = {
      {"posix", "open64", "open", "open", CallResult::kOther},
      {"posix", "__open_2", "open", "open", CallResult::kOther},
      {"posix", "__openat64_2", "openat", "open", CallResult::kOther},
      {"posix", "__xstat", "stat", "metadata", CallResult::kOther},
      {"posix", "__lxstat64", "lstat", "metadata", CallResult::kOther},
      {"posix", "__fxstatat", "fstatat", "metadata", CallResult::kOther},
      {"posix", "__pread64_chk", "pread", "read", CallResult::kBytes},
      {"posix", "preadv64v2", "preadv2", "read", CallResult::kBytes},
      {"posix", "write", "write", "write", CallResult::kBytes},
      {"posix", "sendfile64", "sendfile", "read", CallResult::kBytes},
      {"posix", "aio_read64", "aio_read", "read", CallResult::kOther},
      {"posix", "lseek64", "lseek", "seek", CallResult::kOther},
      {"posix", "mlock2", "mlock2", "map", CallResult::kOther},
      {"stdio", "fread", "fread", "read", CallResult::kItems},
      {"stdio", "__fread_chk", "fread", "read", CallResult::kItems},
      {"stdio", "__isoc99_fscanf", "fscanf", "read", CallResult::kOther},
      {"stdio", "_IO_getc", "getc", "read", CallResult::kOther},
      {"stdio", "__fprintf_chk", "fprintf", "write", CallResult::kBytes},
      {"stdio", "fopen64", "fopen", "open", CallResult::kOther},
      {"posix", "__private64", "__private64", "", CallResult::kOther},
      {"posix", "rea", "rea", "", CallResult::kOther},
      {"posix", "read write", "read write", "", CallResult::kOther},
      {"posix", "", "", "", CallResult::kOther},
      {"stdio", "_IO_", "_IO_", "", CallResult::kOther},
  };
  for (const Case& c : cases) {
    const CallName got = call_name(c.layer, c.name);
    EXPECT_EQ(got.plain, c.plain) << c.name;
    EXPECT_EQ(got.category, c.category) << c.name;
    EXPECT_EQ(got.result, c.result) << c.name;
  }
}

}  // namespace
}  // namespace fathom::analysis
