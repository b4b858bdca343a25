// SPDX-License-Identifier: MIT
#include "session/drop_in_wishes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/files.h"
#include "trace/testing/spool_builder.h"
#include "wire/drop_in.h"

namespace fathom::session {
namespace {

class Wishes : public ::testing::Test {
 protected:
  Wishes() {
    std::string name = ::testing::TempDir() + "wishes-XXXXXX";
    home_ = real_path(mkdtemp(name.data())).value();
    trace_ = join_path(home_, "trace");
    place_ = join_path(home_, FATHOM_PRIVATE_AT_HOME);
    const char* before = std::getenv("HOME");
    before_ = before != nullptr ? before : "/";
    setenv("HOME", home_.c_str(), 1);
    mkdir(place_.c_str(), 0700);
    make_spool(trace_);
  }
  ~Wishes() override {
    setenv("HOME", before_.c_str(), 1);
    (void)remove_tree(home_).has_value();
  }

  static void make_spool(const std::string& trace) {
    const trace::testing::SpoolBuilder spool(trace);
    chmod(spool.directory().c_str(), 0700);
  }

  // What a process of this user told about the spool of this recording.
  void tell(const std::string& trace, const std::string& records, mode_t mode = 0600) const {
    struct stat facts {};
    ASSERT_EQ(stat(join_path(trace, "spool").c_str(), &facts), 0);
    char name[100];
    std::snprintf(name, sizeof name, "%032x-%lx-%lx" FATHOM_WISHES_SUFFIX, 0, facts.st_dev,
                  facts.st_ino);
    ASSERT_TRUE(write_file_atomic(join_path(place_, name), records, mode));
  }

  std::string home_, trace_, place_, before_;
};

using namespace std::string_literals;

TEST_F(Wishes, AreThoseOfOneSpool) {
  tell(trace_, "hidden\0dftracer /x/log\0"s);
  DropInWishes wishes = DropInWishes::of(trace_);
  EXPECT_TRUE(wishes.any() && wishes.hidden());
  EXPECT_TRUE(wishes.holds("dftracer", "/x/log"));
  EXPECT_FALSE(wishes.holds("dftracer", "/x/lo"));
  EXPECT_FALSE(wishes.holds("alnair", "/x/log"));
  EXPECT_FALSE(wishes.holds("dftracer", ""));
  const std::string copy = join_path(home_, "copy");
  make_spool(copy);
  EXPECT_FALSE(DropInWishes::of(copy).any());
}

TEST_F(Wishes, ComeWhileTheRunGoesOn) {
  tell(trace_, "dftracer /x/log\0"s);
  DropInWishes wishes = DropInWishes::of(trace_);
  EXPECT_FALSE(wishes.hidden());
  EXPECT_FALSE(wishes.holds("dftracer", "/y/log"));
  tell(trace_, "dftracer /x/log\0dftracer /y/log\0"s);
  EXPECT_TRUE(wishes.holds("dftracer", "/y/log"));
}

TEST_F(Wishes, AreBelievedWhereNobodyElseCanWrite) {
  tell(trace_, "dftracer /x/log\0"s, 0666);
  EXPECT_FALSE(DropInWishes::of(trace_).any());
  tell(trace_, "dftracer /x/log\0"s);
  ASSERT_EQ(chmod(place_.c_str(), 0755), 0);
  EXPECT_FALSE(DropInWishes::of(trace_).any());
  ASSERT_EQ(chmod(place_.c_str(), 0700), 0);
  EXPECT_TRUE(DropInWishes::of(trace_).any());
  ASSERT_EQ(chmod(join_path(trace_, "spool").c_str(), 0777), 0);
  EXPECT_FALSE(DropInWishes::of(trace_).any());
}

TEST_F(Wishes, GoWithWhatLiesBeside) {
  tell(trace_, "dftracer /x/log\0"s);
  const DropInWishes wishes = DropInWishes::of(trace_);
  ASSERT_TRUE(write_file_atomic(wishes.path_for("dftracer"), "0\n", 0600));
  wishes.remove();
  EXPECT_TRUE(list_dir(place_)->empty());
  EXPECT_EQ(DropInWishes().path_for("dftracer"), "");
}

}  // namespace
}  // namespace fathom::session
