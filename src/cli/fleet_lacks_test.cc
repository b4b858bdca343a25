// SPDX-License-Identifier: MIT
#include "cli/fleet_lacks.h"

#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/old_programs.h"
#include "cli/parser.h"

namespace fathom::cli {
namespace {

const CommandDef kCommand = {.name = "job",
                             .summary = "Not available in this build",
                             .usage = "ACTION",
                             .example = "fathom job list",
                             .run = tell_what_fleet_lacks};

TEST(FleetLacks, CommandSaysWhyInOneLineAndExitsWithThree) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"list"}, {}, {"show", "x", "--", "--profile"}}) {
    Parser parser(kCommand, words);
    const Result<int> status = kCommand.run(parser);
    ASSERT_FALSE(status);
    EXPECT_EQ(3, exit_status(status.error().code));
    EXPECT_NE(std::string::npos,
              status.error().message.find("no server, jobs, agents or containers"));
    EXPECT_EQ(std::string::npos, status.error().message.find('\n'));
    EXPECT_FALSE(status.error().hint.empty());
  }
}

TEST(FleetLacks, HelpWorks) {
  Parser parser(kCommand, {"--help"});
  const Result<int> status = kCommand.run(parser);
  ASSERT_TRUE(status);
  EXPECT_EQ(0, *status);
}

TEST(OldPrograms, AreKnownByTheirNames) {
  EXPECT_TRUE(is_old_program("/usr/bin/profiling-server"));
  EXPECT_TRUE(is_old_program("profiling-parser.py"));
  EXPECT_TRUE(is_old_program("./benchmark-client"));
  EXPECT_FALSE(is_old_program("fathom"));
  EXPECT_FALSE(is_old_program("profiling-servers"));
  EXPECT_FALSE(is_old_program("profiling-server/fathom"));
}

}  // namespace
}  // namespace fathom::cli
