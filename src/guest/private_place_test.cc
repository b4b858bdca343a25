// SPDX-License-Identifier: MIT
#include "guest/private_place.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace fathom::guest {
namespace {

class PrivatePlace : public ::testing::Test {
 protected:
  PrivatePlace() {
    std::string name = ::testing::TempDir() + "private-XXXXXX";
    root_ = std::filesystem::canonical(mkdtemp(name.data())).string();
  }
  ~PrivatePlace() override { std::filesystem::remove_all(root_); }
  [[nodiscard]] std::string in(const std::string& name) const { return root_ + "/" + name; }

  std::string root_;
  char plain_[4096] = {};
};

TEST_F(PrivatePlace, IsOursAloneWhereNobodyElseWrites) {
  ASSERT_EQ(mkdir(in("own").c_str(), 0755), 0);
  ASSERT_EQ(symlink("own", in("link").c_str()), 0);
  EXPECT_TRUE(is_ours_alone(in("own").c_str(), plain_, sizeof plain_));
  EXPECT_EQ(plain_, in("own"));
  EXPECT_TRUE(is_ours_alone(in("link/").c_str(), plain_, sizeof plain_));
  EXPECT_EQ(plain_, in("own"));
  EXPECT_FALSE(is_ours_alone(in("nothing").c_str(), plain_, sizeof plain_));
  for (const mode_t mode : {0777, 01777}) {
    ASSERT_EQ(chmod(in("own").c_str(), mode), 0);
    EXPECT_FALSE(is_ours_alone(in("own").c_str(), plain_, sizeof plain_)) << mode;
  }
}

TEST_F(PrivatePlace, IsNotOursWhereTheWayCanBeExchanged) {
  ASSERT_EQ(mkdir(in("way").c_str(), 0755), 0);
  ASSERT_EQ(mkdir(in("way/own").c_str(), 0755), 0);
  ASSERT_EQ(chmod(in("way").c_str(), 01777), 0);
  EXPECT_TRUE(is_ours_alone(in("way/own").c_str(), plain_, sizeof plain_));
  ASSERT_EQ(chmod(in("way").c_str(), 0777), 0);
  EXPECT_FALSE(is_ours_alone(in("way/own").c_str(), plain_, sizeof plain_));
}

TEST_F(PrivatePlace, DirectoriesAreOurOwnOrNotUsed) {
  umask(0777);
  const bool made = make_own_directory(in("own").c_str());
  umask(022);
  EXPECT_TRUE(made);
  EXPECT_EQ(static_cast<unsigned>(std::filesystem::status(in("own")).permissions()), 0700U);
  EXPECT_TRUE(make_own_directory(in("own").c_str()));
  ASSERT_EQ(symlink("own", in("link").c_str()), 0);
  EXPECT_FALSE(make_own_directory(in("link").c_str()));
  ASSERT_EQ(chmod(in("own").c_str(), 0711), 0);
  EXPECT_FALSE(make_own_directory(in("own").c_str()));
}

}  // namespace
}  // namespace fathom::guest
