// SPDX-License-Identifier: MIT
#include "cli/top/screen.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "render/display_width.h"

namespace fathom::cli::top {
namespace {

Page page_of(std::size_t rows) {
  Page page;
  page.title = "sort.fathom: 1.00 s";
  Table table{"Processes", {{"pid"}, {"program"}, {"cpu", Measure::kPercent}}, {}, ""};
  for (std::size_t i = 0; i < rows; i++) {
    table.rows.push_back({static_cast<std::int64_t>(100 + i), std::string("program"), 12.5});
    page.ids.push_back(std::to_string(100 + i));
  }
  page.tables.push_back(table);
  page.tables.push_back({"Calls",
                         {{"call"}, {"calls", Measure::kCount}},
                         {{std::string("read"), std::int64_t{7}}},
                         ""});
  return page;
}

// Without colours.
std::string plain(std::string line) {
  for (std::size_t at = line.find('\x1b'); at != std::string::npos; at = line.find('\x1b'))
    line.erase(at, line.find('m', at) - at + 1);
  return line;
}

bool has(const Screen& screen, std::string_view text) {
  return std::ranges::any_of(
      screen.lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

Screen drawn(Page page, View& view, ScreenSize size, const ScreenStyle& style = {}) {
  view.arrange(page);
  return draw(page, view, size, style);
}

TEST(TopScreen, ShowsTitleTablesAndKeys) {
  View view;
  const Screen screen = drawn(page_of(2), view, {24, 80});
  ASSERT_EQ(screen.lines.size(), 24U);
  EXPECT_EQ(screen.lines[0], "sort.fathom: 1.00 s");
  EXPECT_EQ(screen.lines[2], "* Processes");
  EXPECT_EQ(screen.lines[3], "  pid  program     cpu");
  EXPECT_EQ(screen.lines[4], "> 100  program  12.5 %");
  EXPECT_EQ(screen.lines[5], "  101  program  12.5 %");
  EXPECT_TRUE(has(screen, "  Calls"));
  EXPECT_TRUE(screen.lines[23].starts_with("q quit"));
}

TEST(TopScreen, FitsIntoAnySize) {
  Page page = page_of(50);
  page.title = std::string(300, 'x');
  page.tables[0].rows[0][1] = std::string("漢字漢字漢字漢字漢字漢字");
  for (std::size_t rows = 1; rows < 40; rows++) {
    for (const std::size_t columns : {1U, 2U, 3U, 10U, 20U, 79U, 80U, 200U}) {
      for (const bool color : {false, true}) {
        View view;
        const Screen screen = drawn(page, view, {rows, columns}, {.color = color, .utf8 = true});
        EXPECT_EQ(screen.lines.size(), rows);
        for (const std::string& line : screen.lines)
          EXPECT_LE(render::display_width(plain(line)), columns) << rows << "x" << columns << line;
      }
    }
  }
}

TEST(TopScreen, FollowsTheMarkThroughALongTable) {
  View view;
  Page page = page_of(100);
  view.arrange(page);
  (void)view.press(Key::kEnd, page, 10);
  const Screen screen = drawn(page_of(100), view, {24, 80});
  EXPECT_TRUE(has(screen, "> 199"));
  EXPECT_FALSE(has(screen, "  100 "));
  EXPECT_TRUE(has(screen, "100 of 100)"));
  EXPECT_GT(screen.visible, 5U);
}

TEST(TopScreen, ANarrowScreenLeavesTablesOutBeforeTheOneInUse) {
  View view;
  Page page = page_of(3);
  EXPECT_FALSE(has(drawn(page, view, {8, 80}), "Calls"));
  (void)view.press(Key::kNextTable, page, 1);
  EXPECT_TRUE(has(drawn(page, view, {8, 80}), "Calls"));
}

TEST(TopScreen, NamesDoNotSteerTheTerminal) {
  Page page = page_of(1);
  page.title = "evil\x1b[2J\r\n";
  page.head = {"\x1b]0;title\x07"};
  page.tables[0].title = "Pro\x1b[31mcesses";
  page.tables[0].rows[0][1] = std::string(
      "a\x1b[2J\nb\xc2\x9b"
      "31m");
  View view;
  for (const std::string& line : drawn(page, view, {24, 100}).lines) {
    for (const char c : line) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20) << line;
    EXPECT_EQ(line.find("\xc2\x9b"), std::string::npos);
  }
}

TEST(TopScreen, WithoutUtf8ThereIsAsciiAlone) {
  Page page = page_of(1);
  page.tables[0].rows[0][1] = std::string("größe") + std::string(200, 'x');
  View view;
  const Screen screen = drawn(page, view, {24, 60}, {.color = true, .utf8 = false});
  for (const std::string& line : screen.lines) {
    for (const char c : line) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << line;
  }
  EXPECT_TRUE(has(screen, "gr??e"));
  EXPECT_TRUE(has(screen, "~")) << "what is cut shows";
}

TEST(TopScreen, ColoursAreOnlyWhereTheyAreWanted) {
  View view;
  EXPECT_FALSE(has(drawn(page_of(1), view, {24, 80}), "\x1b"));
  EXPECT_TRUE(
      has(drawn(page_of(1), view, {24, 80}, {.color = true, .utf8 = true}), "\x1b[7m> 100"));
}

TEST(TopScreen, HelpAndPauseShow) {
  View view;
  Page page = page_of(1);
  (void)view.press(Key::kPause, page, 1);
  EXPECT_TRUE(has(drawn(page, view, {24, 80}), "paused"));
  (void)view.press(Key::kHelp, page, 1);
  const Screen screen = drawn(page, view, {24, 80});
  EXPECT_TRUE(has(screen, "Esc goes back"));
  EXPECT_FALSE(has(screen, "Processes"));
}

TEST(TopScreen, AnEmptyTableSaysWhy) {
  Page page = page_of(0);
  page.tables[0].note = "no recorded process runs now";
  View view;
  EXPECT_TRUE(has(drawn(page, view, {24, 80}), "no recorded process runs now"));
}

}  // namespace
}  // namespace fathom::cli::top
