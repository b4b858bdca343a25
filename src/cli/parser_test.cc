// SPDX-License-Identifier: MIT
#include "cli/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace fathom::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr CommandDef kSample = {.name = "sample",
                                .summary = "Does a thing",
                                .usage = "[OPTION…] COMMAND",
                                .example = "fathom sample -- true",
                                .run = nullptr};

struct Sample {
  bool quiet = false;
  std::string output;
  double hz = 10;
  Words paths, command;
};

Result<bool> parse(const Words& words, Sample& sample) {
  Parser parser(kSample, words);
  parser.flag("-q,--quiet", sample.quiet, "hush");
  parser.option("-o,--output", sample.output, "DIR", "where");
  parser.option("--hz", sample.hz, "HZ", "how often");
  parser.option("--paths", sample.paths, "P,…", "which");
  parser.tail("COMMAND", sample.command, "what");
  return parser.parse();
}

TEST(Parser, TheProgramsOptionsAreItsOwn) {
  struct Case {
    Words words;
    Words command;
    bool quiet;
    std::string output;
  };
  const Case cases[] = {
      {{"--", "ls", "-q"}, {"ls", "-q"}, false, ""},
      {{"ls", "-q"}, {"ls", "-q"}, false, ""},
      {{"-q", "ls", "--output", "x"}, {"ls", "--output", "x"}, true, ""},
      {{"-o", "dir", "ls"}, {"ls"}, false, "dir"},
      {{"-odir", "ls"}, {"ls"}, false, "dir"},
      {{"-qo", "dir", "ls"}, {"ls"}, true, "dir"},
      {{"--output=dir", "-q", "--", "ls", "--", "x"}, {"ls", "--", "x"}, true, "dir"},
      {{"--output", "dir", "ls", "--help"}, {"ls", "--help"}, false, "dir"},
      {{"--", "-q"}, {"-q"}, false, ""},
  };
  for (const Case& c : cases) {
    Sample sample;
    const Result<bool> parsed = parse(c.words, sample);
    const std::string name = ::testing::PrintToString(c.words);
    ASSERT_TRUE(parsed) << name << ": " << parsed.error().message;
    EXPECT_EQ(sample.command, c.command) << name;
    EXPECT_EQ(sample.quiet, c.quiet) << name;
    EXPECT_EQ(sample.output, c.output) << name;
  }
}

TEST(Parser, MistakesAreOneLineOfUsage) {
  const Words cases[] = {
      {}, {"-q"}, {"--"}, {"--sound", "--", "ls"}, {"-x", "ls"}, {"--hz", "often", "ls"}, {"-o"}};
  for (const Words& words : cases) {
    Sample sample;
    const Result<bool> parsed = parse(words, sample);
    const std::string name = ::testing::PrintToString(words);
    ASSERT_FALSE(parsed) << name;
    EXPECT_EQ(parsed.error().code, Code::kUsage) << name;
    EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos) << name;
    EXPECT_THAT(parsed.error().hint, HasSubstr("fathom sample --help")) << name;
  }
}

TEST(Parser, ListsAddUp) {
  Sample sample;
  ASSERT_TRUE(parse({"--paths", "/a,/b", "--paths=/c", "--hz", "2.5", "ls"}, sample));
  EXPECT_THAT(sample.paths, ElementsAre("/a", "/b", "/c"));
  EXPECT_EQ(sample.hz, 2.5);
  EXPECT_THAT(sample.command, ElementsAre("ls"));
}

TEST(Parser, HelpShowsEveryOptionAndAnExample) {
  Sample sample;
  Parser parser(kSample, {"--help"});
  parser.flag("-q,--quiet", sample.quiet, "hush");
  parser.tail("COMMAND", sample.command, "what");
  for (const char* word : {"usage: fathom sample", "-q, --quiet", "hush", "COMMAND",
                           "Example:", "fathom sample -- true"}) {
    EXPECT_THAT(parser.help(), HasSubstr(word));
  }
}

TEST(Parser, DescribesWithoutRunning) {
  static bool ran = false;
  constexpr CommandDef kDescribed = {.name = "described",
                                     .summary = "",
                                     .usage = "",
                                     .example = "",
                                     .run = [](Parser& parser) -> Result<int> {
                                       Sample sample;
                                       parser.option("-o,--output", sample.output, "DIR", "where");
                                       parser.tail("COMMAND", sample.command, "what");
                                       FATHOM_ASSIGN(const bool go_on, parser.parse());
                                       ran = go_on;
                                       return 0;
                                     }};
  const Signature takes = Parser::describe(kDescribed);
  EXPECT_FALSE(ran);
  ASSERT_EQ(takes.options.size(), 1U);
  EXPECT_EQ(takes.options[0].names, "-o,--output");
  EXPECT_EQ(takes.options[0].metavar, "DIR");
  ASSERT_EQ(takes.positionals.size(), 1U);
  EXPECT_TRUE(takes.has_tail);
}

TEST(Parser, HelpKeepsWithinTheLineAndShowsLists) {
  Sample sample;
  Parser parser(kSample, {"--help"});
  std::string help;
  for (int i = 0; i < 40; ++i) help += (i == 0 ? "" : " ") + std::string("words");
  parser.flag("-q,--quiet", sample.quiet, help);
  parser.list("Kinds", {{"plain", "the first kind"},
                        {"one with a name, or two, beyond its column", "the second"}});
  for (const std::string_view line : split(parser.help(), '\n')) EXPECT_LE(line.size(), 100U);
  EXPECT_THAT(parser.help(), HasSubstr("\nKinds:\n  plain "));
  EXPECT_THAT(parser.help(), HasSubstr("\n  one with a name, or two, beyond its column\n" +
                                       std::string(34, ' ') + "the second\n"));
}

TEST(Commands, DescribeEveryFormat) {
  for (const char* name : {"export", "import"}) {
    const Signature takes = Parser::describe(*find_command(name));
    ASSERT_EQ(takes.lists.size(), 1U) << name;
    EXPECT_EQ(takes.lists[0].first, "Formats");
    EXPECT_GT(takes.lists[0].second.size(), 5U);
    for (const Argument& row : takes.lists[0].second)
      EXPECT_GT(row.help.size(), 20U) << row.names << ": " << row.help;
  }
}

TEST(Commands, AreFoundByName) {
  for (const CommandDef* def : commands()) {
    EXPECT_EQ(find_command(def->name), def);
    EXPECT_THAT(std::string(def->example), HasSubstr("fathom " + std::string(def->name)));
  }
  EXPECT_EQ(find_command("sound"), nullptr);
  EXPECT_THAT(unknown_command("rnu").hint, HasSubstr("fathom run"));
}

TEST(Parser, RepeatedOptionsKeepTheirCommas) {
  Words commands, tail;
  Parser parser(kSample, {"--cmd", "echo a,b >> x", "--cmd", "{c,d}"});
  parser.repeated("--cmd", commands, "COMMAND", "what");
  parser.optional_tail("COMMAND", tail, "what else");
  EXPECT_TRUE(parser.parse());
  EXPECT_THAT(commands, ElementsAre("echo a,b >> x", "{c,d}"));
  EXPECT_TRUE(tail.empty());
}

TEST(Parser, ATailThatMayBeMissingIsTakenWhereItIs) {
  Words commands, tail;
  Parser parser(kSample, {"--cmd", "a", "b", "--cmd", "c"});
  parser.repeated("--cmd", commands, "COMMAND", "what");
  parser.optional_tail("COMMAND", tail, "what else");
  EXPECT_TRUE(parser.parse());
  EXPECT_THAT(commands, ElementsAre("a"));
  EXPECT_THAT(tail, ElementsAre("b", "--cmd", "c"));
}

TEST(Parser, ATailBeginsBehindThePositionalArguments) {
  for (const Words& words : {Words{"do", "--cmd", "a", "b", "--cmd"},
                             {"--cmd", "a", "do", "b", "--cmd"},
                             {"do", "--cmd", "a", "--", "b", "--cmd"}}) {
    std::string action;
    Words commands, tail;
    Parser parser(kSample, words);
    parser.positional("ACTION", action, "to do");
    parser.repeated("--cmd", commands, "COMMAND", "what");
    parser.optional_tail("COMMAND", tail, "what else");
    EXPECT_TRUE(parser.parse());
    EXPECT_EQ("do", action);
    EXPECT_THAT(commands, ElementsAre("a"));
    EXPECT_THAT(tail, ElementsAre("b", "--cmd"));
  }
}

}  // namespace
}  // namespace fathom::cli
