// SPDX-License-Identifier: MIT
#include "cli/top/keys.h"

#include <gtest/gtest.h>

namespace fathom::cli::top {
namespace {

using Keys = std::vector<Key>;

TEST(TopKeys, LettersAndSequences) {
  KeyReader reader;
  EXPECT_EQ(reader.take("jk\r\t"), (Keys{Key::kDown, Key::kUp, Key::kEnter, Key::kNextTable}));
  EXPECT_EQ(reader.take("\x1b[A\x1b[B\x1bOA\x1bOB"),
            (Keys{Key::kUp, Key::kDown, Key::kUp, Key::kDown}));
  EXPECT_EQ(reader.take("\x1b[5~\x1b[6~<>s"),
            (Keys{Key::kPageUp, Key::kPageDown, Key::kPreviousColumn, Key::kNextColumn,
                  Key::kNextColumn}));
  EXPECT_EQ(reader.take("q?"), (Keys{Key::kQuit, Key::kHelp}));
}

TEST(TopKeys, ASequenceMayComeInPieces) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\x1b"), Keys{});
  EXPECT_TRUE(reader.waits());
  EXPECT_EQ(reader.take("["), Keys{});
  EXPECT_EQ(reader.take("B"), Keys{Key::kDown});
  EXPECT_FALSE(reader.waits());
}

TEST(TopKeys, EscapeAloneGoesBackWhenNothingFollows) {
  KeyReader reader;
  EXPECT_EQ(reader.take("\x1b"), Keys{});
  EXPECT_EQ(reader.settle(), Keys{Key::kBack});
  EXPECT_EQ(reader.settle(), Keys{});
  EXPECT_EQ(reader.take("\x1b\x1b[A"), (Keys{Key::kBack, Key::kUp})) << "twice, fast";
}

TEST(TopKeys, WhatMeansNothingIsOneKeyToo) {
  KeyReader reader;
  EXPECT_EQ(reader.take("x\x1b[99;5u\x1b[Zj"),
            (Keys{Key::kOther, Key::kOther, Key::kOther, Key::kDown}));
  for (const Key key : reader.take("\x1b[" + std::string(1000, ';'))) EXPECT_EQ(key, Key::kOther);
  (void)reader.settle();
  EXPECT_EQ(reader.take("j"), Keys{Key::kDown});
}

}  // namespace
}  // namespace fathom::cli::top
