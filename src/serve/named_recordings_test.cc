// SPDX-License-Identifier: MIT
#include "serve/named_recordings.h"

#include <gtest/gtest.h>

namespace fathom::serve {
namespace {

// Whatever is said to a command on this machine has to mean the same recording there, and later.
TEST(NamedRecordings, SayWhereTheyAre) {
  NamedRecordings known({{"/runs/a.fathom/", "/runs/a.fathom/"},
                         {"last", "/runs/b.fathom"},
                         {"trace.pfw", "/var/tmp/fathom-import"},
                         {"http://here:1/recordings/c", "/var/tmp/fathom-fetched"}});
  const auto place = [&](const char* id) { return known.find(id).value().place; };
  EXPECT_EQ(place("a.fathom"), "/runs/a.fathom");
  EXPECT_EQ(place("b.fathom"), "/runs/b.fathom");
  EXPECT_EQ(place("fathom-import"), "trace.pfw");
  EXPECT_EQ(place("fathom-fetched"), "http://here:1/recordings/c");
}

}  // namespace
}  // namespace fathom::serve
