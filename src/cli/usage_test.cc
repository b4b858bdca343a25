// SPDX-License-Identifier: MIT
// What commands refuse, and what they let pass, before they open or start anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/parser.h"

namespace fathom::cli {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Error refusal(const Words& line) {
  const CommandDef* command = find_command(line.front());
  if (command == nullptr) return unknown_command(line.front());
  Parser parser(*command, Words(line.begin() + 1, line.end()));
  const Result<int> done = command->run(parser);
  EXPECT_FALSE(done) << ::testing::PrintToString(line);
  return done ? Error{Code::kIo, "it was done", ""} : done.error();
}

struct Case {
  Words line;
  const char* words;  // of the error
};

TEST(Usage, MistakesAreTold) {
  const Case cases[] = {
      {{"diff"}, "two recordings are needed"},
      {{"diff", "/nowhere/a"}, "two recordings are needed"},
      {{"diff", "--before", "/nowhere/a"}, "must be used together"},
      {{"diff", "/nowhere/a", "/nowhere/b", "--threshold", "-1"}, "must not be negative"},
      {{"export", "/nowhere/a", "--format", "alnair", "-o", "-"}, "is a directory of files"},
      {{"export", "/nowhere/a", "--format", "alnair", "-o", "x", "--split", "process"},
       "is a directory of files"},
      {{"run", "--kernel-rows", "16777217", "--", "true"}, "--kernel-rows takes a number up to"},
      {{"run", "--kernel-rows", "-1", "--", "true"}, "--kernel-rows takes a number up to"},
      {{"watch", "nonsense"}, "'nonsense' is neither status nor reload"},
  };
  for (const Case& c : cases) {
    const Error error = refusal(c.line);
    EXPECT_EQ(error.code, Code::kUsage) << error.message;
    EXPECT_THAT(error.message, HasSubstr(c.words));
  }
}

// Each line has something else that is wrong, behind what is to pass.
TEST(Usage, WhatIsRightPasses) {
  const Case cases[] = {
      {{"diff", "/nowhere/a", "/nowhere/b"}, "/nowhere/a"},
      {{"export", "/nowhere/a", "--format", "alnair", "-o", "x"}, "/nowhere/a"},
      {{"export", "/nowhere/a", "--format", "chrome", "-o", "-"}, "/nowhere/a"},
      {{"export", "/nowhere/a", "--format", "chrome", "-o", "x", "--split", "process"},
       "/nowhere/a"},
      {{"run", "--kernel-rows", "16777216", "--exit-code", "wrong", "--", "true"}, "--exit-code"},
      {{"run", "--kernel-rows", "0", "--exit-code", "wrong", "--", "true"}, "--exit-code"},
      {{"watch", "status", "--config", "/nowhere/a"}, "/nowhere/a"},
      {{"watch", "reload", "--config", "/nowhere/a"}, "/nowhere/a"},
  };
  for (const Case& c : cases) EXPECT_THAT(refusal(c.line).message, HasSubstr(c.words));
}

}  // namespace
}  // namespace fathom::cli
