// SPDX-License-Identifier: MIT
#include "base/os_error.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace fathom {
namespace {

TEST(OsError, NamesOfNumbers) {
  EXPECT_EQ(errno_name(ENOENT), "ENOENT");
  EXPECT_EQ(errno_name(EAGAIN), "EAGAIN");
  EXPECT_EQ(errno_name(0), "");
  EXPECT_EQ(errno_name(4095), "errno 4095");
}

TEST(OsError, SaysWhatAndWhy) {
  const Error error = os_error(EACCES, "open /x", "ask the owner");
  EXPECT_EQ(error.message, "open /x: Permission denied");
  EXPECT_EQ(error.hint, "ask the owner");
  EXPECT_EQ(error.code, Code::kDenied);
}

TEST(OsError, CodesFitTheNumber) {
  EXPECT_EQ(os_error(ENOENT, "x").code, Code::kNotFound);
  EXPECT_EQ(os_error(EROFS, "x").code, Code::kDenied);
  EXPECT_EQ(os_error(ENOSYS, "x").code, Code::kUnsupported);
  EXPECT_EQ(os_error(ENOSPC, "x").code, Code::kIo);
  EXPECT_EQ(os_error(4095, "x").message, "x: errno 4095");
}

TEST(OsError, AFullDiskIsCalledAFullDisk) {
  EXPECT_EQ(os_error(ENOSPC, "write /x").message,
            "write /x: the disk is full (No space left on device)");
  EXPECT_EQ(os_error(EDQUOT, "write /x").message,
            "write /x: the disk is full for this user (Disk quota exceeded)");
}

TEST(OsError, ALimitOfFilesIsNamedWhereThereIsOne) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limited = before;
  limited.rlim_cur = std::min<rlim_t>(before.rlim_max, rlim_t{1} << 40U);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limited), 0);
  const std::string named = os_error(EFBIG, "write /x").message;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(named, "write /x: the file size limit (ulimit -f) is reached (File too large)");
  if (before.rlim_cur == RLIM_INFINITY) {
    EXPECT_EQ(os_error(EFBIG, "write /x").message, "write /x: File too large");
  }
}

}  // namespace
}  // namespace fathom
