// SPDX-License-Identifier: MIT
#include "session/place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files.h"

namespace fathom::session {
namespace {

class Place : public ::testing::Test {
 protected:
  Place() {
    std::string name = ::testing::TempDir() + "place-XXXXXX";
    root_ = real_path(mkdtemp(name.data())).value();
  }
  ~Place() override { (void)remove_tree(root_).has_value(); }
  std::string in(const std::string& name) const { return join_path(root_, name); }
  std::string root_;
};

TEST_F(Place, IsMadeWithWhatLiesAbove) {
  const Result<std::string> made = make_place(in("a/b/trace"), false, "x");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(*made, in("a/b/trace"));
  EXPECT_TRUE(is_directory(*made));
}

TEST_F(Place, WhatExistsIsKept) {
  ASSERT_TRUE(make_dirs(in("trace")));
  ASSERT_TRUE(write_file_atomic(in("trace/manifest.json"), "{}"));
  const Result<std::string> refused = make_place(in("trace"), false, "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(exit_status(refused.error().code), 3);
  EXPECT_TRUE(path_exists(in("trace/manifest.json")));
}

TEST_F(Place, ForceReplacesAnEmptyDirectory) {
  ASSERT_TRUE(make_dirs(in("empty")));
  EXPECT_TRUE(make_place(in("empty"), true, "x"));
}

TEST_F(Place, AFileOrALinkIsNeverRemoved) {
  ASSERT_TRUE(write_file_atomic(in("file"), "x"));
  EXPECT_FALSE(make_place(in("file"), true, "x"));
  ASSERT_EQ(symlink("/nowhere", in("link").c_str()), 0);
  EXPECT_FALSE(make_place(in("link"), true, "x"));
  EXPECT_FALSE(make_place(in("file/trace"), true, "x"));
  EXPECT_EQ(read_file(in("file")).value(), "x");
}

TEST_F(Place, DefaultNamesAreUnique) {
  const std::string before = real_path(".").value();
  ASSERT_EQ(chdir(root_.c_str()), 0);
  const Result<std::string> one = make_place("", false, "/usr/bin/sort");
  const Result<std::string> two = make_place("", false, "/usr/bin/sort");
  ASSERT_EQ(chdir(before.c_str()), 0);
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two);
  EXPECT_TRUE(base_name(*one).starts_with("fathom-sort-"));
  EXPECT_TRUE(base_name(*two).ends_with(".fathom"));
}

TEST(DefaultName, IsSafeToType) {
  EXPECT_TRUE(default_name("/opt/my prog$(rm)", 0).starts_with("fathom-my_prog__rm_-"));
  EXPECT_TRUE(default_name(std::string(500, 'x'), 0).size() < 200);
}

}  // namespace
}  // namespace fathom::session
