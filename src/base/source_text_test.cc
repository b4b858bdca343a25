// SPDX-License-Identifier: MIT
#include "base/source_text.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fathom {
namespace {

namespace fs = std::filesystem;

class SourceTexts : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom_source_text_" + std::to_string(getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(root_ + "/" + name, std::ios::binary) << text;
    return root_ + "/" + name;
  }

  std::string root_;
};

TEST_F(SourceTexts, ALineByItsNumber) {
  const std::string path = file("a.cc", "first\n\t  second();  \r\nthird");
  SourceText text(0);
  EXPECT_EQ(text.line(path, 1), "first");
  EXPECT_EQ(text.line(path, 2), "second();");
  EXPECT_EQ(text.line(path, 3), "third");
  for (const std::int64_t none : {-1, 0, 4, 1'000'000}) EXPECT_FALSE(text.line(path, none));
  EXPECT_FALSE(text.line(root_ + "/missing.cc", 1));
}

TEST_F(SourceTexts, OnlyWhatIsPlainlySource) {
  file("a.cc", "line\n");
  file("secret", "line\n");
  fs::create_symlink(root_ + "/secret", root_ + "/link.cc");
  fs::create_directories(root_ + "/folder.cc");
  ASSERT_EQ(::mkfifo((root_ + "/fifo.cc").c_str(), 0600), 0);
  const std::string binary = file("binary.cc", std::string("a\0b\n", 4));
  SourceText text(0);
  EXPECT_FALSE(text.line(root_ + "/secret", 1));
  EXPECT_FALSE(text.line(root_ + "/link.cc", 1));
  EXPECT_FALSE(text.line(root_ + "/folder.cc", 1));
  EXPECT_FALSE(text.line(root_ + "/fifo.cc", 1));
  EXPECT_FALSE(text.line(root_ + "/folder.cc/../a.cc", 1));
  EXPECT_FALSE(text.line(binary, 1));
  EXPECT_FALSE(text.line("a.cc", 1));
  EXPECT_FALSE(text.line("/proc/self/environ", 1));
  EXPECT_FALSE(text.line("/proc/self/cwd/a.cc", 1));
  EXPECT_TRUE(text.line(root_ + "/a.cc", 1));
}

TEST_F(SourceTexts, LargeFilesAndLongLinesAreBounded) {
  const std::string large = file("large.c", std::string((8U << 20U) + 1, '\n'));
  const std::string wide =
      file("wide.c", std::string(300, 'x') + "\n" + std::string(199, 'y') + "äz\n");
  SourceText text(0);
  EXPECT_FALSE(text.line(large, 1));
  EXPECT_EQ(text.line(wide, 1)->size(), 200U);
  EXPECT_EQ(text.line(wide, 2), std::string(199, 'y'));  // not half of a character
}

TEST_F(SourceTexts, WhatChangedSinceIsNotShown) {
  const std::string path = file("a.py", "line\n");
  SourceText text(1'000'000'000);  // 1970
  EXPECT_FALSE(text.line(path, 1));
  EXPECT_FALSE(text.line(path, 1));
  EXPECT_EQ(text.changed(), 1U);
}

}  // namespace
}  // namespace fathom
