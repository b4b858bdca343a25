// SPDX-License-Identifier: MIT
#include "base/shared_view.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "base/files.h"

namespace fathom {
namespace {

class SharedViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "view-XXXXXX").string();
    fd_ = Fd(::mkstemp(pattern.data()));
    ::unlink(pattern.c_str());
    ASSERT_EQ(::ftruncate(fd_.get(), kBytes), 0);
    Result<SharedView> view = SharedView::map(fd_.get(), kBytes, true);
    ASSERT_TRUE(view.has_value());
    view_ = std::move(view).value();
    std::memset(view_.memory(), 'x', kBytes);
  }
  [[nodiscard]] char at(std::size_t place) const {
    return static_cast<volatile char*>(view_.memory())[place];
  }
  static constexpr std::size_t kBytes = std::size_t{4} << 20;
  Fd fd_;
  SharedView view_;
};

TEST_F(SharedViewTest, WhatIsCutReadsAsZeros) {
  EXPECT_EQ(at(kBytes - 1), 'x');
  EXPECT_EQ(view_.missing_pages(), 0U);
  ASSERT_EQ(::ftruncate(fd_.get(), 1 << 20), 0);
  EXPECT_EQ(at(0), 'x');
  EXPECT_EQ(at(kBytes - 1), 0);
  EXPECT_EQ(view_.missing_pages(), 1U);
  static_cast<volatile char*>(view_.memory())[kBytes / 2] = 'y';  // stays with us
  EXPECT_EQ(at(kBytes / 2), 'y');
  EXPECT_EQ(view_.missing_pages(), 2U);
}

TEST_F(SharedViewTest, EveryThreadIsGuarded) {
  ASSERT_EQ(::ftruncate(fd_.get(), 0), 0);
  char seen = 'x';
  std::thread other([&] { seen = at(0); });
  other.join();
  EXPECT_EQ(seen, 0);
}

TEST_F(SharedViewTest, AFileThatIsWholeAgainIsSeenAgain) {
  ASSERT_EQ(::ftruncate(fd_.get(), 0), 0);
  EXPECT_EQ(at(0), 0);
  ASSERT_EQ(::ftruncate(fd_.get(), kBytes), 0);
  ASSERT_EQ(::pwrite(fd_.get(), "z", 1, 0), 1);
  ASSERT_TRUE(view_.map_again(fd_.get()).has_value());
  EXPECT_EQ(at(0), 'z');
  EXPECT_EQ(view_.missing_pages(), 0U);
}

// What is not ours ends the process as ever, and so does what was ours once.
TEST_F(SharedViewTest, OtherFaultsEndTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGBUS, SIGABRT}) {
      struct sigaction plain {};
      plain.sa_handler = SIG_DFL;
      if (number != SIGBUS) ::sigaction(number, &plain, nullptr);
    }
    (void)::freopen("/dev/null", "w", stderr);
    ::raise(SIGBUS);
    ::raise(SIGBUS);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace fathom
