// SPDX-License-Identifier: MIT
#include "fleet/agents/command_log.h"

#include <gtest/gtest.h>

namespace fathom::fleet {
namespace {

using Words = std::vector<std::string>;

TEST(CommandLog, LinesOfABuild) {
  const auto commands = parse_command_log(
      "cd /src/a && cc -c x.c\n\n"
      "cd '/src/a b' && cc \"-DNAME=\\\"a b\\\"\" -DX='1 2' y\\ z.c ''\r\n",
      "");
  ASSERT_TRUE(commands);
  EXPECT_EQ(
      (std::vector<LoggedCommand>{{"/src/a", {"cc", "-c", "x.c"}},
                                  {"/src/a b", {"cc", "-DNAME=\"a b\"", "-DX=1 2", "y z.c", ""}}}),
      *commands);
}

TEST(CommandLog, OfTheFrameworkWithAProgram) {
  const auto commands = parse_command_log("x /src x -O2 a.cc\nx /src x\n", "clang++");
  ASSERT_TRUE(commands);
  EXPECT_EQ(
      (std::vector<LoggedCommand>{{"/src", {"clang++", "-O2", "a.cc"}}, {"/src", {"clang++"}}}),
      *commands);
}

TEST(CommandLog, WhatCannotBeReadNamesItsLine) {
  for (const std::string_view text : {"cd /a && x\ncd /a &&\n", "cd /a && x\n\"open\n",
                                      "cd /a && x\ncd /a && x \\\n", "cd /a && x\ncd 'a\n"}) {
    const auto commands = parse_command_log(text, "");
    ASSERT_FALSE(commands) << text;
    EXPECT_TRUE(commands.error().message.starts_with("line 2: ")) << commands.error().message;
  }
  EXPECT_FALSE(parse_command_log(std::string_view("cd /a && x\0y", 12), ""));
}

}  // namespace
}  // namespace fathom::fleet
