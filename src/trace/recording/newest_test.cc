// SPDX-License-Identifier: MIT
#include "trace/recording/newest.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/ids.h"

namespace fathom::trace {
namespace {

class Newest : public ::testing::Test {
 protected:
  Newest() {
    std::filesystem::create_directory(box_);
    ::setenv("XDG_STATE_HOME", state_.c_str(), 1);
  }
  ~Newest() override {
    ::unsetenv("XDG_STATE_HOME");
    std::filesystem::remove_all(box_);
  }
  std::string made(const std::string& name) {
    std::filesystem::create_directory(box_ + "/" + name);
    return box_ + "/" + name;
  }
  std::string box_ = ::testing::TempDir() + "newest-" + random_id();
  std::string state_ = box_ + "/a/state";
};

TEST_F(Newest, NothingYet) {
  const Result<std::string> found = newest_recording();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNotFound);
}

TEST_F(Newest, TheLastOneThatWasRemembered) {
  remember_newest(made("one"));
  remember_newest(made("two"));
  EXPECT_EQ(newest_recording().value(), box_ + "/two");
  struct stat facts {};
  ASSERT_EQ(::stat((state_ + "/fathom").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
}

TEST_F(Newest, OneThatIsGoneIsNamed) {
  remember_newest(made("one"));
  std::filesystem::remove(box_ + "/one");
  const Result<std::string> found = newest_recording();
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find(box_ + "/one"), std::string::npos);
}

TEST_F(Newest, WhatOthersCouldHaveWrittenIsNotBelieved) {
  remember_newest(made("one"));
  ASSERT_EQ(::chmod((state_ + "/fathom/newest-recording").c_str(), 0666), 0);
  EXPECT_FALSE(newest_recording());
}

TEST_F(Newest, WithoutAHomeNothingIsWritten) {
  ::unsetenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("HOME", "", 1);
  remember_newest(made("one"));
  EXPECT_FALSE(newest_recording());
  ::setenv("HOME", before.c_str(), 1);
}

}  // namespace
}  // namespace fathom::trace
