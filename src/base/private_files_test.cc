// SPDX-License-Identifier: MIT
#include "base/private_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace fathom {
namespace {

class PrivateFiles : public ::testing::Test {
 protected:
  PrivateFiles() {
    std::string name = ::testing::TempDir() + "private-XXXXXX";
    root_ = real_path(mkdtemp(name.data())).value();
    mask_ = umask(0);
  }
  ~PrivateFiles() override {
    umask(mask_);
    (void)remove_tree(root_).has_value();
  }
  std::string in(const std::string& name) const { return join_path(root_, name); }
  mode_t mode(const std::string& name) const {
    struct stat facts {};
    return lstat(in(name).c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
  }
  std::string root_;
  mode_t mask_ = 0;
};

TEST_F(PrivateFiles, HoldWhateverTheUmask) {
  for (const mode_t mask : {0000, 0022, 0077, 0777}) {
    umask(mask);
    const std::string name = "trace-" + std::to_string(mask);
    ASSERT_TRUE(make_private_dir(in(name)));
    ASSERT_TRUE(make_inner_dir(in(name + "/spool")));
    ASSERT_TRUE(open_private(in(name + "/log"), O_RDWR));
    ASSERT_TRUE(write_private_atomic(in(name + "/manifest.json"), "{}"));
    EXPECT_EQ(mode(name), 0700U) << mask;
    EXPECT_EQ(mode(name + "/spool"), 0700U) << mask;
    EXPECT_EQ(mode(name + "/log"), 0600U) << mask;
    EXPECT_EQ(mode(name + "/manifest.json"), 0600U) << mask;
  }
}

TEST_F(PrivateFiles, AFolderOfAGroupDoesNotShare) {
  ASSERT_EQ(chmod(root_.c_str(), 02777), 0);
  ASSERT_TRUE(make_private_dir(in("trace")));
  EXPECT_EQ(mode("trace"), 0700U);
}

TEST_F(PrivateFiles, SharingHoldsForWhatIsThereAndWhatComes) {
  ASSERT_TRUE(make_private_dir(in("trace")));
  ASSERT_TRUE(make_inner_dir(in("trace/spool")));
  ASSERT_TRUE(open_private(in("trace/spool/pool"), O_RDWR));
  ASSERT_TRUE(share_with(in("trace"), getegid()));
  umask(0777);
  ASSERT_TRUE(write_private_atomic(in("trace/manifest.json"), "{}"));
  ASSERT_TRUE(make_inner_dir(in("trace/more")));
  EXPECT_EQ(mode("trace"), 02750U);
  EXPECT_EQ(mode("trace/spool"), 02750U);
  EXPECT_EQ(mode("trace/more"), 02750U);
  EXPECT_EQ(mode("trace/spool/pool"), 0640U);
  EXPECT_EQ(mode("trace/manifest.json"), 0640U);
}

TEST_F(PrivateFiles, SharingFollowsNoLinks) {
  ASSERT_TRUE(write_private_atomic(in("diary"), "private"));
  ASSERT_TRUE(make_private_dir(in("trace")));
  ASSERT_EQ(symlink(in("diary").c_str(), in("trace/manifest.json").c_str()), 0);
  ASSERT_EQ(mkfifo(in("trace/pool").c_str(), 0600), 0);
  ASSERT_TRUE(share_with(in("trace"), getegid()));
  EXPECT_EQ(mode("diary"), 0600U);
  EXPECT_EQ(mode("trace/pool"), 0600U);
}

TEST_F(PrivateFiles, GroupsAreNamedOrNumbered) {
  EXPECT_EQ(find_own_group(std::to_string(getegid())).value(), getegid());
  EXPECT_FALSE(find_own_group("no-such-group"));
  EXPECT_FALSE(find_own_group("-1"));
  EXPECT_FALSE(find_own_group(""));
}

}  // namespace
}  // namespace fathom
