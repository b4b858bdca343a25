// SPDX-License-Identifier: MIT
#include "base/suggest.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Suggest, FindsTheNearestWordOrNone) {
  constexpr std::string_view kWords[] = {"run", "report", "sql", "info", "doctor", "collect"};
  struct Case {
    std::string_view typed;
    std::string_view want;
  };
  const Case cases[] = {{"reprot", "report"},
                        {"rnu", "run"},
                        {"docter", "doctor"},
                        {"colect", "collect"},
                        {"inf", "info"},
                        {"report", "report"},
                        {"sound", ""},
                        {"", ""},
                        {"x", ""},
                        {"a-rather-long-word", ""}};
  for (const Case& c : cases) EXPECT_EQ(nearest(c.typed, kWords), c.want) << c.typed;
}

TEST(Suggest, SomeThatMayHaveBeenMeant) {
  const std::vector<std::string> words = {"vfs_read", "vfs_write", "ext4_file_read_iter", "getpid",
                                          "vfs_readv"};
  using Words = std::vector<std::string>;
  EXPECT_EQ(near_words("vfs_raed", words), (Words{"vfs_read", "vfs_readv"}));
  EXPECT_EQ(near_words("read", words), (Words{"vfs_read", "vfs_readv", "ext4_file_read_iter"}));
  EXPECT_EQ(near_words("read", words, 1), (Words{"vfs_read"}));
  EXPECT_EQ(near_words("nothing_like_it", words), (Words{}));
  EXPECT_EQ(near_words("", words), (Words{}));
  EXPECT_EQ(did_you_mean({"a", "b", "c"}), "did you mean a, b or c?");
  EXPECT_EQ(did_you_mean({"a"}), "did you mean a?");
  EXPECT_EQ(did_you_mean({}), "");
}

}  // namespace
}  // namespace fathom
