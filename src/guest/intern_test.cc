// SPDX-License-Identifier: MIT
#include "guest/intern.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "guest/testing/world.h"

namespace fathom::guest {
namespace {

class Intern : public ::testing::Test {
 protected:
  void SetUp() override { testing::enter_world(); }
};

uint32_t intern(const std::string& text) { return intern_text(text.data(), text.size()); }

TEST_F(Intern, TheSameTextIsOneNumber) {
  const uint32_t id = intern("a text");
  EXPECT_NE(id, 0U);
  EXPECT_EQ(intern("a text"), id);
  EXPECT_NE(intern("a text "), id);
  EXPECT_NE(intern_path(0, "a text", 6), id) << "a path is not a text";
  EXPECT_EQ(testing::read_spool().texts[id], "a text");
}

TEST_F(Intern, PathsDependOnTheirDirectoryUnlessTheyAreAbsolute) {
  EXPECT_NE(intern_path(1, "name", 4), intern_path(2, "name", 4));
  EXPECT_EQ(intern_path(1, "/name", 5), intern_path(2, "/name", 5));
}

TEST_F(Intern, AnyBytesAndLengthsComeBack) {
  for (const size_t length : std::initializer_list<size_t>{0, 1, 7, 8, 9, 4095, 4096, 16384}) {
    std::string text(length, '\0');
    for (size_t i = 0; i < length; i++) text[i] = static_cast<char>(i * 37 + length);
    const uint32_t id = intern(text);
    EXPECT_EQ(testing::read_spool().texts[id], text) << length;
  }
}

TEST_F(Intern, LongerTextsAreCutAndCounted) {
  const uint64_t before = testing::losses(FATHOM_SOURCE_RUNTIME, FATHOM_LOSS_TEXT_CUT);
  const uint32_t id = intern(std::string(FATHOM_TEXT_MAX + 5, 'x'));
  EXPECT_EQ(testing::read_spool().texts[id].size(), static_cast<size_t>(FATHOM_TEXT_MAX));
  EXPECT_EQ(testing::losses(FATHOM_SOURCE_RUNTIME, FATHOM_LOSS_TEXT_CUT), before + 1);
}

// Threads that name the same things at once may define one twice, but never get another's number.
TEST_F(Intern, ThreadsNeverGetAWrongDefinition) {
  constexpr int kThreads = 6, kTexts = 3000;
  std::vector<std::vector<uint32_t>> ids(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int who = 0; who < kThreads; who++) {
    threads.emplace_back([&ids, who] {
      for (int i = 0; i < kTexts; i++)
        ids[static_cast<size_t>(who)].push_back(intern("shared " + std::to_string(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  testing::Contents contents = testing::read_spool();
  for (const auto& of_thread : ids) {
    for (int i = 0; i < kTexts; i++) {
      EXPECT_EQ(contents.texts[of_thread[static_cast<size_t>(i)]], "shared " + std::to_string(i));
    }
  }
  for (int i = 0; i < kTexts; i++) intern("shared " + std::to_string(i));
  EXPECT_EQ(testing::read_spool().texts.size(), contents.texts.size()) << "known by now";
}

TEST_F(Intern, WithoutRoomThereIsNoNumberAndLaterThereIs) {
  const std::string long_text(9000, 'y');
  std::string refused;
  {
    const testing::NoMorePools none;
    for (int i = 0; i < 20000 && refused.empty(); i++) {
      const std::string text = std::to_string(i) + long_text;
      if (intern(text) == 0) refused = text;
    }
    ASSERT_FALSE(refused.empty());
  }
  const uint32_t id = intern(refused);
  EXPECT_NE(id, 0U);
  EXPECT_EQ(testing::read_spool().texts[id], refused);
  EXPECT_EQ(intern(refused), id);
}

}  // namespace
}  // namespace fathom::guest
