// SPDX-License-Identifier: MIT
#include "sql/dictionary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::sql {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::StrEq;

TEST(Dictionary, OnlyTextsThatOccurAreMembers) {
  const std::string_view texts[] = {"unused", "read", "write", "open"};
  const std::uint32_t codes[] = {3, 1, 3, 0xffffffff, 17};
  const Dictionary dictionary(texts, codes);
  EXPECT_THAT(dictionary.members(), ElementsAre(StrEq("read"), StrEq("open")));
  EXPECT_EQ(dictionary.member_of_code()[1], 0U);
  EXPECT_EQ(dictionary.member_of_code()[3], 1U);
}

TEST(Dictionary, EqualTextsAreMergedAndOddOnesEscaped) {
  const std::string_view texts[] = {"a", "\xff", "a", "\\xff", std::string_view("n\0l", 3), ""};
  const Dictionary dictionary(texts);
  EXPECT_THAT(dictionary.members(),
              ElementsAre(StrEq("a"), StrEq("\\xff"), StrEq("n\\x00l"), StrEq("")));
  const std::uint32_t want[] = {0, 1, 0, 1, 2, 3};
  EXPECT_THAT(dictionary.member_of_code(), ElementsAreArray(want));
}

TEST(Dictionary, OfNothingHasNoMember) {
  EXPECT_TRUE(Dictionary(std::span<const std::string_view>{}).members().empty());
}

}  // namespace
}  // namespace fathom::sql
