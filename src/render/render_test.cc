// SPDX-License-Identifier: MIT
#include "render/render.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>
#include <cstdlib>

#include "base/escape.h"
#include "base/text.h"
#include "base/utf8.h"
#include "render/cell_text.h"
#include "render/display_width.h"
#include "render/row_text.h"

namespace fathom::render {
namespace {

std::string text(const char* value) { return value; }

Table calls() {
  Table table;
  table.title = "Top calls";
  table.columns = {{"name"},
                   {"calls", Measure::kCount},
                   {"time", Measure::kNanoseconds},
                   {"bytes", Measure::kBytes}};
  table.rows = {{text("read"), std::int64_t{12345}, std::int64_t{1234567}, std::int64_t{4096}},
                {text("naïve-測深"), std::int64_t{7}, 12.0, Value()}};
  return table;
}

TEST(Format, IsKnownByName) {
  EXPECT_EQ(*parse_format("table"), Format::kTable);
  EXPECT_EQ(*parse_format("json"), Format::kJson);
  EXPECT_EQ(*parse_format("csv"), Format::kCsv);
  EXPECT_EQ(*parse_format("md"), Format::kMarkdown);
  const auto wrong = parse_format("sound");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::kUsage);
  EXPECT_NE(wrong.error().hint.find("json"), std::string::npos);
}

TEST(Render, TextTableLinesUp) {
  EXPECT_EQ(render(calls(), Format::kTable),
            "name         calls     time     bytes\n"
            "──────────  ──────  ───────  ────────\n"
            "read        12,345  1.23 ms  4.00 KiB\n"
            "naïve-測深       7    12 ns         -\n");
}

TEST(Render, JsonCarriesPlainValues) {
  EXPECT_EQ(render(calls(), Format::kJson),
            "[\n{\"name\":\"read\",\"calls\":12345,\"time\":1234567,\"bytes\":4096},\n"
            "{\"name\":\"naïve-測深\",\"calls\":7,\"time\":12.0,\"bytes\":null}\n]\n");
  EXPECT_EQ(render({}, Format::kJson), "[]\n");
}

TEST(Render, JsonKeysAreDistinct) {
  Table table;
  table.columns = {{"x"}, {"x"}, {"x:1"}};
  table.rows = {{Value(true), Value(false), Value()}};
  EXPECT_EQ(render(table, Format::kJson), "[\n{\"x\":true,\"x:1\":false,\"x:1:1\":null}\n]\n");
}

TEST(Render, CsvQuotesWhatMustBe) {
  Table table;
  table.columns = {{"file"}, {"a,b"}, {"n"}};
  table.rows = {{text("it's a \"name\" `x` $y"), text(" two  spaces "), std::int64_t{1}},
                {text("one\ntwo\ttab\\back"), text("naïve-測深-🌊"), 0.1},
                {text("bad-\xff"), text(""), Value()},
                {List{Value(true), text("x")}, Object{{"k", text("v")}}, Value(true)}};
  EXPECT_EQ(render(table, Format::kCsv),
            "file,\"a,b\",n\n"
            "\"it's a \"\"name\"\" `x` $y\", two  spaces ,1\n"
            "\"one\ntwo\ttab\\back\",naïve-測深-🌊,0.1\n"
            "bad-\\xff,\"\",\n"
            "\"[true,\"\"x\"\"]\",\"{\"\"k\"\":\"\"v\"\"}\",true\n");
}

TEST(Render, MarkdownEscapesItsMarks) {
  Table table = calls();
  table.rows[1][0] = text("a|b\nc*");
  table.note = "two rows";
  EXPECT_EQ(render(table, Format::kMarkdown),
            "| name | calls | time | bytes |\n"
            "| --- | ---: | ---: | ---: |\n"
            "| read | 12,345 | 1.23 ms | 4.00 KiB |\n"
            "| a\\|b\\\\nc\\* | 7 | 12 ns | - |\n"
            "\ntwo rows\n");
}

TEST(Render, NotesAreValidUtf8InEveryFormat) {
  Table table = calls();
  table.note = "caf\xe9";
  for (const Format format : {Format::kTable, Format::kMarkdown})
    EXPECT_TRUE(is_valid_utf8(render(table, format)));
}

TEST(Render, LongTextsGiveWayAndNumbersDoNot) {
  Table table;
  table.columns = {{"file"}, {"bytes"}, {"who"}};
  table.rows = {{"/a/very/long/path" + std::string(200, 'x') + "/shard-00017.bin",
                 std::int64_t{1234567890123}, text("me")}};
  for (const std::size_t width : {30U, 60U, 100U}) {
    const std::string out = render(table, Format::kTable, {.width = width});
    for (std::size_t begin = 0; begin < out.size();) {
      const std::size_t end = out.find('\n', begin);
      EXPECT_LE(display_width(out.substr(begin, end - begin)), width);
      begin = end + 1;
    }
    EXPECT_NE(out.find("1234567890123"), std::string::npos);
    EXPECT_NE(out.find("…"), std::string::npos);
    EXPECT_NE(out.find(".bin"), std::string::npos) << out;
  }
}

Table kernels(std::size_t rows) {
  Table table;
  table.columns = {{"kernel"}, {"calls"}, {"errors", {}, 3}, {"grid", {}, 2}, {"max", {}, 1}};
  for (std::size_t i = 0; i < rows; ++i)
    table.rows.push_back({"kernel_" + std::string(40, 'x') + "_end", static_cast<std::int64_t>(i),
                          static_cast<std::int64_t>(i), text("1024x1x1"), std::int64_t{1234567}});
  return table;
}

std::string head_of(const Table& table, std::size_t width) {
  const std::string out = render(table, Format::kTable, {.width = width});
  std::string names;
  for (const char c : out.substr(0, out.find('\n'))) {
    if (c != ' ' || (!names.empty() && names.back() != ' ')) names += c;
  }
  return names;
}

// 51 columns of the name, 5 of calls, 6 of errors, 8 of grid, 7 of max, 8 of gaps. A name keeps a
// third of the line, or is whole.
TEST(Render, ColumnsOfRankGiveWayBeforeTheLongestTextIsAStub) {
  const Table one = kernels(1);
  EXPECT_EQ(head_of(one, 85), "kernel calls errors grid max");
  EXPECT_EQ(head_of(one, 50), "kernel calls errors grid max");
  EXPECT_EQ(head_of(one, 49), "kernel calls grid max");
  EXPECT_EQ(head_of(one, 37), "kernel calls max");
  EXPECT_EQ(head_of(one, 20), "kernel calls");
}

TEST(Render, WhatIsTheSameInEachRowGoesFirst) {
  EXPECT_EQ(head_of(kernels(2), 49), "kernel calls errors max");
  EXPECT_EQ(head_of(kernels(2), 34), "kernel calls errors");
  Table unknown = kernels(1);
  unknown.rows[0][4] = Value();
  EXPECT_EQ(head_of(unknown, 43), "kernel calls errors grid");
}

TEST(Render, WhatIsLeftOutIsNamedAndNeverOutOfPlainFormats) {
  Table table = kernels(1);
  table.note = "a note";
  const std::string narrow = render(table, Format::kTable, {.width = 37});
  EXPECT_NE(narrow.find("\na note\nno room for: errors, grid (--format csv has all)\n"),
            std::string::npos)
      << narrow;
  for (const std::size_t width : {std::size_t{85}, kNoLimit}) {
    const std::string whole = render(table, Format::kTable, {.width = width});
    EXPECT_EQ(whole.find("no room"), std::string::npos) << whole;
    EXPECT_EQ(whole.find("…"), std::string::npos) << whole;
  }
  for (const Format format : {Format::kJson, Format::kCsv, Format::kMarkdown})
    EXPECT_NE(render(table, format, {.width = 37}).find("errors"), std::string::npos);
}

TEST(Render, ATerminalGetsNoControlCharacters) {
  Table table;
  table.columns = {{"na\x1b[31mme"}};
  table.rows = {{text("\x1b]0;title\x07\n")}};
  table.note = "a\tb";
  const std::string out = render(table, Format::kTable);
  for (const char c : out) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << out;
}

TEST(Render, ColourOnlyWhereAskedFor) {
  EXPECT_EQ(render(calls(), Format::kTable).find('\x1b'), std::string::npos);
  EXPECT_NE(render(calls(), Format::kTable, {.width = 100, .color = true}).find("\x1b[1m"),
            std::string::npos);
  EXPECT_EQ(render(calls(), Format::kCsv, {.width = 100, .color = true}).find('\x1b'),
            std::string::npos);
}

TEST(Render, ShortRowsAndNoColumnsAreSurvived) {
  Table table;
  EXPECT_EQ(render(table, Format::kTable), "");
  table.columns = {{"a"}, {"b"}};
  table.rows = {{}, {Value(true)}};
  EXPECT_EQ(render(table, Format::kTable), "a     b\n────  ─\n-     -\ntrue  -\n");
}

TEST(HumanText, NumbersWithoutAMeasure) {
  struct Case {
    Value in;
    const char* want;
  };
  const Case cases[] = {
      {Value(std::int64_t{1234567}), "1234567"},
      {Value(0.0), "0"},
      {Value(1234567.891), "1234567.891"},
      {Value(0.123456789), "0.12346"},
      {Value(1e-9), "1e-09"},
      {Value(2.5), "2.5"},
      {Value(100.0), "100"},
      {Value(-0.0), "0"},
      {Value(1e20), "1e+20"},
      {Value(std::uint64_t{18446744073709551615U}), "18446744073709551615"},
  };
  for (const Case& c : cases) EXPECT_EQ(human_text(c.in, Measure::kNone), c.want);
}

TEST(HumanText, Measures) {
  EXPECT_EQ(human_text(std::int64_t{-1234567}, Measure::kCount), "-1,234,567");
  EXPECT_EQ(human_text(std::int64_t{999}, Measure::kCount), "999");
  EXPECT_EQ(human_text(1e6, Measure::kCount), "1,000,000");
  EXPECT_EQ(human_text(2.5, Measure::kCount), "2.5");
  EXPECT_EQ(human_text(12.34, Measure::kPercent), "12.3 %");
  EXPECT_EQ(human_text(text("n/a"), Measure::kBytes), "n/a");
}

TEST(Document, TitlesAreKeysInJson) {
  const Table tables[] = {calls(),
                          {"Top files (by time)", {{"file"}}, {}, "no file was used"},
                          {"Top calls", {{"x"}}, {}, ""}};
  const std::string json = render_document(tables, Format::kJson);
  EXPECT_EQ(json.substr(0, 15), "{\n\"top_calls\":[");
  EXPECT_NE(json.find("\n\"top_files_by_time\":[]"), std::string::npos) << json;
  EXPECT_NE(json.find("\n\"top_calls_2\":[]"), std::string::npos) << json;
  EXPECT_NE(json.find("\n\"notes\":{\"top_files_by_time\":\"no file was used\"}"),
            std::string::npos)
      << json;
  EXPECT_EQ(render_document({}, Format::kJson), "{\n}\n");
}

TEST(Document, JsonTellsUnits) {
  const Table files{
      .title = "Files", .columns = {{"file"}, {"time", Measure::kNanoseconds}}, .rows = {}, .note = {}};
  const Table units{.title = "Units",
                    .columns = {{"n", Measure::kCount}, {"n", Measure::kPercent}},
                    .rows = {},
                    .note = "a note"};
  const Table tables[] = {files, units, {"Names", {{"x"}}, {}, ""}};
  const std::string json = render_document(tables, Format::kJson);
  EXPECT_NE(json.find("\n\"units\":{\"files\":{\"time\":\"ns\"},"
                      "\"units_2\":{\"n\":\"count\",\"n:1\":\"percent\"}}\n}"),
            std::string::npos)
      << json;
}

TEST(Document, NoKeyStandsTwice) {
  const Table once{.title = "a", .columns = {{"x"}}, .rows = {}, .note = "why"};
  const Table numbered{.title = "a 2", .columns = {{"x"}}, .rows = {}, .note = {}};
  const Table notes{.title = "Notes", .columns = {{"x"}}, .rows = {}, .note = {}};
  const Table tables[] = {once, numbered, once, notes};
  const std::string text = render_document(tables, Format::kJson);
  for (const char* key : {"\"a\":[", "\"a_2\":[", "\"a_3\":[", "\"notes_2\":[", "\"notes\":{"}) {
    const std::size_t at = text.find(key);
    ASSERT_NE(at, std::string::npos) << key << " in " << text;
    EXPECT_EQ(text.find(key, at + 1), std::string::npos) << key << " in " << text;
  }
}

TEST(Document, TitlesStandAboveTables) {
  const Table tables[] = {{"One", {{"a"}}, {{Value(true)}}, ""}, {"Two", {{"b"}}, {}, "empty"}};
  EXPECT_EQ(render_document(tables, Format::kTable), "One\na\n────\ntrue\n\nTwo\nb\n─\nempty\n");
  EXPECT_EQ(render_document(tables, Format::kMarkdown),
            "## One\n\n| a |\n| --- |\n| true |\n\n## Two\n\n| b |\n| --- |\n\nempty\n");
  EXPECT_EQ(render_document(tables, Format::kCsv), "# One\na\ntrue\n\n# Two\nb\n");
}

TEST(RowPrinter, PartsMakeTheSameAsTheWhole) {
  for (const Format format : {Format::kTable, Format::kJson, Format::kCsv, Format::kMarkdown}) {
    for (const std::size_t rows : {0U, 1U, 2U, 5U}) {
      Table whole = calls();
      whole.rows.resize(rows, whole.rows[0]);
      std::string out;
      RowPrinter printer(format, {}, [&](std::string_view part) -> Status {
        out += part;
        return {};
      });
      Table part = whole;
      part.rows.clear();
      ASSERT_TRUE(printer.rows(part));
      for (const auto& row : whole.rows) {
        part.rows = {row};
        ASSERT_TRUE(printer.rows(part));
      }
      ASSERT_TRUE(printer.finish());
      EXPECT_EQ(out, render(whole, format)) << rows;
    }
  }
}

TEST(RowPrinter, AFailingWriterIsTold) {
  RowPrinter printer(Format::kCsv, {}, [](std::string_view) -> Status {
    return Error{Code::kIo, "disk full", ""};
  });
  EXPECT_FALSE(printer.rows(calls()));
}

TEST(Style, WithoutATerminalThereIsNoColour) {
  const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(setenv("COLUMNS", "77", 1), 0);
  EXPECT_EQ(style_for(fd).width, 77U);
  ASSERT_EQ(setenv("COLUMNS", "wide", 1), 0);
  EXPECT_EQ(style_for(fd).width, kNoLimit);
  ASSERT_EQ(unsetenv("COLUMNS"), 0);
  EXPECT_EQ(style_for(fd).width, kNoLimit);
  EXPECT_FALSE(style_for(fd).color);
  close(fd);
}

// A pseudo-terminal as output.
TEST(Style, ATerminalGivesItsWidthAndColourUnlessDeclined) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
    GTEST_SKIP() << "no pseudo-terminals here";
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  EXPECT_TRUE(style_for(terminal).color);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(style_for(terminal).color);
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(style_for(terminal).color);
  close(terminal);
}

Table hostile() {
  Table table;
  table.title = "a\x1b]0;x\x07";
  table.columns = {{"file\u202e\n"}, {"n"}};
  table.rows = {{text("c\x1b[31m|<img src=x>[l](http://e)\n# forged\u2028"), std::int64_t{-5}}};
  table.note = "n\x9b";
  return table;
}

bool is_calm(std::string_view page) {
  for (std::size_t at = 0; at < page.size();) {
    const CodePoint point = code_point_at(page, at);
    if (!point.valid || (point.value != '\n' && steers_display(point.value))) return false;
    at += point.length;
  }
  return true;
}

TEST(Render, NamesSteerNoDisplay) {
  const Table table = hostile();
  for (const Format format : {Format::kTable, Format::kJson, Format::kCsv, Format::kMarkdown}) {
    EXPECT_TRUE(is_calm(render(table, format))) << render(table, format);
    EXPECT_TRUE(is_calm(render_document({&table, 1}, format)));
  }
  EXPECT_EQ(render(table, Format::kTable).find("\n# forged"), std::string::npos);
}

TEST(Render, MarkdownCellsAreTextAlone) {
  EXPECT_EQ(render(hostile(), Format::kMarkdown),
            "| file\\\\u{202e}\\\\n | n |\n| --- | ---: |\n"
            "| c\\\\x1b\\[31m\\|\\<img src=x\\>\\[l\\](http\\://e)\\\\n# forged\\\\u{2028} | -5 |\n"
            "\nn\\\\x9b\n");
}

TEST(Render, JsonGivesBackEveryByte) {
  std::string out;
  JsonWriter(out).value(std::string_view("\xc2\x9b\u202e\xf3\xa0\x80\xa1\x7f"));
  EXPECT_EQ(out, "\"\\u009b\\u202e\\udb40\\udc21\\u007f\"");
}

TEST(Render, CsvIsTheVeryTextUnlessASpreadsheetReadsIt) {
  Table table;
  table.columns = {{"=a"}};
  for (const char* value : {"=1+1", "+1", "-1+1", "@SUM(1)", " =1", "\t=1", "＝1", "-5", "plain"})
    table.rows.push_back({text(value)});
  table.rows.push_back({std::int64_t{-5}});
  table.rows.push_back({-0.5});
  EXPECT_EQ(render(table, Format::kCsv),
            "=a\n=1+1\n+1\n-1+1\n@SUM(1)\n =1\n\t=1\n＝1\n-5\nplain\n-5\n-0.5\n");
  EXPECT_EQ(render(table, Format::kCsv, {.safe_csv = true}),
            "'=a\n'=1+1\n'+1\n'-1+1\n'@SUM(1)\n' =1\n'\t=1\n'＝1\n-5\nplain\n-5\n-0.5\n");
}

}  // namespace
}  // namespace fathom::render
