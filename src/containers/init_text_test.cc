// SPDX-License-Identifier: MIT
#include "containers/init_text.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "containers/instructions.h"

namespace fathom::containers {
namespace {

// Whatever an image says of itself, its lines stay comments: nothing of it is in force.
TEST(InitText, AnImageCannotWriteInstructions) {
  const std::string evil = "x\nnetwork: host\nuser: root\n\"";
  const std::string text = init_text("my/app:1", {.id = "sha256:0",
                                                  .entrypoint = {evil},
                                                  .command = {evil, "'"},
                                                  .environment = {"A=" + evil, evil + "=b", evil},
                                                  .workdir = "/" + evil,
                                                  .user = evil,
                                                  .volumes = {evil},
                                                  .ports = {evil}});
  for (const std::string_view line : split(text, '\n'))
    EXPECT_TRUE(line.empty() || line[0] == '#' || line == "image: \"my/app:1\"") << line;
  const Result<Instructions> read = parse_instructions(text, "f", {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->network, "none");
  EXPECT_EQ(read->user, "");
}

}  // namespace
}  // namespace fathom::containers
