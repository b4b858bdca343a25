// SPDX-License-Identifier: MIT
// Out of a folder of this machine; tests/e2e has containers.
#include "containers/copy_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "trace/testing/spool_builder.h"

namespace fathom::containers {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using trace::testing::TempDir;

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(CopyFromFolder, FilesComeAndNoLinkIsFollowed) {
  const TempDir top;
  const std::string work = top.path() + "/work";
  write(top.path() + "/secret/key", "secret");
  write(work + "/out/deep/a\nb", "1");
  write(work + "/one", "2");
  std::filesystem::create_symlink("../secret", work + "/away");
  std::filesystem::create_symlink("../../secret/key", work + "/out/key");
  ASSERT_EQ(::mkfifo((work + "/out/pipe").c_str(), 0600), 0);
  Result<KeptOutputs> kept = KeptOutputs::make(top.path() + "/kept");
  ASSERT_TRUE(kept);
  ASSERT_TRUE(copy_from_folder(work, {"out", "one", "away", "away/key", "none"}, *kept));
  EXPECT_EQ(kept->counts().files, 2U);
  EXPECT_EQ(*read_file(top.path() + "/kept/out/deep/a\nb"), "1");
  EXPECT_EQ(*read_file(top.path() + "/kept/one"), "2");
  EXPECT_THAT(kept->counts().left_out,
              ElementsAre(Pair("devices and pipes", 1), Pair("links", 2), Pair("missing", 2)));
}

// Results may lie in the folder that is copied.
TEST(CopyFromFolder, TheCopyIsNotCopied) {
  const TempDir top;
  write(top.path() + "/work/x", "1");
  Result<KeptOutputs> kept = KeptOutputs::make(top.path() + "/work/kept");
  ASSERT_TRUE(kept);
  ASSERT_TRUE(copy_from_folder(top.path(), {"work"}, *kept));
  EXPECT_EQ(kept->counts().files, 1U);
  EXPECT_THAT(kept->counts().left_out, ElementsAre(Pair("the copy itself", 1)));
}

TEST(CopyFromFolder, BoundsHold) {
  const TempDir top;
  for (const char* name : {"a", "b", "c"}) write(top.path() + "/work/" + name, "12345");
  Result<KeptOutputs> kept = KeptOutputs::make(top.path() + "/kept", {.members = 3});
  ASSERT_TRUE(kept);
  ASSERT_TRUE(copy_from_folder(top.path(), {"work"}, *kept));
  EXPECT_EQ(kept->counts().files, 2U);  // the folder is the third
  EXPECT_THAT(kept->counts().left_out, ElementsAre(Pair("the rest, too many", 1)));
}

}  // namespace
}  // namespace fathom::containers
