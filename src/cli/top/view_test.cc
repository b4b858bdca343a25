// SPDX-License-Identifier: MIT
#include "cli/top/view.h"

#include <gtest/gtest.h>

namespace fathom::cli::top {
namespace {

Page two_tables() {
  Page page;
  page.tables.push_back({"Processes",
                         {{"pid"}, {"program"}, {"cpu"}},
                         {{std::int64_t{1}, std::string("b"), 5.0},
                          {std::int64_t{2}, std::string("a"), 9.0},
                          {std::int64_t{3}, std::string("c"), Value()}},
                         ""});
  page.ids = {"1", "2", "3"};
  page.tables.push_back({"Calls", {{"call"}, {"calls"}}, {{std::string("read"), 1.0}}, ""});
  return page;
}

class TopView : public ::testing::Test {
 protected:
  TopView() { arrange(); }
  void arrange() {
    page_ = two_tables();
    view_.arrange(page_);
  }
  View::Next press(Key key) {
    const View::Next next = view_.press(key, page_, 10);
    arrange();
    return next;
  }
  std::size_t marked() { return view_.of(page_.tables[0]).marked; }

  View view_;
  Page page_;
};

using Ids = std::vector<std::string>;

TEST_F(TopView, SortsByColumnsInTurn) {
  EXPECT_EQ(page_.ids, (Ids{"1", "2", "3"})) << "as it came";
  press(Key::kNextColumn);
  EXPECT_EQ(page_.ids, (Ids{"3", "2", "1"})) << "large numbers first";
  press(Key::kNextColumn);
  EXPECT_EQ(page_.ids, (Ids{"2", "1", "3"})) << "texts by the alphabet";
  press(Key::kNextColumn);
  EXPECT_EQ(page_.ids, (Ids{"2", "1", "3"})) << "what is not there last";
  press(Key::kReverse);
  EXPECT_EQ(page_.ids, (Ids{"3", "1", "2"}));
  press(Key::kNextColumn);
  EXPECT_EQ(view_.of(page_.tables[0]).column, "pid") << "around";
  press(Key::kPreviousColumn);
  EXPECT_EQ(view_.of(page_.tables[0]).column, "cpu");
}

TEST_F(TopView, TheMarkStaysWithWhatItMarks) {
  press(Key::kDown);
  EXPECT_EQ(marked(), 1U);
  press(Key::kNextColumn);
  press(Key::kNextColumn);
  EXPECT_EQ(page_.ids[marked()], "2");
  press(Key::kEnd);
  EXPECT_EQ(marked(), 2U);
  press(Key::kDown);
  EXPECT_EQ(marked(), 2U) << "no further than the last";
  press(Key::kHome);
  press(Key::kUp);
  EXPECT_EQ(marked(), 0U);
}

TEST_F(TopView, GoesIntoARowAndBack) {
  press(Key::kDown);
  press(Key::kEnter);
  EXPECT_EQ(view_.inside(), "2");
  press(Key::kBack);
  EXPECT_EQ(view_.inside(), "");
  EXPECT_EQ(marked(), 1U);
  press(Key::kNextTable);
  press(Key::kEnter);
  EXPECT_EQ(view_.inside(), "") << "only rows of the first table lead somewhere";
}

TEST_F(TopView, KeysAreForTheTableThatTabChose) {
  press(Key::kNextTable);
  EXPECT_EQ(view_.focus(page_), 1U);
  press(Key::kNextColumn);
  EXPECT_EQ(view_.of(page_.tables[0]).column, "");
  EXPECT_EQ(view_.of(page_.tables[1]).column, "call");
  press(Key::kNextTable);
  EXPECT_EQ(view_.focus(page_), 0U);
  EXPECT_EQ(view_.focus(Page()), 0U);
}

TEST_F(TopView, PausesHelpsAndQuits) {
  press(Key::kPause);
  EXPECT_TRUE(view_.paused());
  press(Key::kHelp);
  EXPECT_TRUE(view_.helps());
  EXPECT_EQ(press(Key::kOther), View::Next::kGoOn);
  EXPECT_FALSE(view_.helps()) << "any key leaves the help";
  EXPECT_TRUE(view_.paused());
  EXPECT_EQ(press(Key::kQuit), View::Next::kQuit);
}

TEST_F(TopView, AnEmptyPageIsNoTrouble) {
  page_ = Page();
  for (int key = 0; key <= static_cast<int>(Key::kOther); key++)
    (void)view_.press(static_cast<Key>(key), Page(), 0);
  Page empty;
  view_.arrange(empty);
  EXPECT_EQ(view_.inside(), "");
}

}  // namespace
}  // namespace fathom::cli::top
