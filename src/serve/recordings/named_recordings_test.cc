// SPDX-License-Identifier: MIT
#include "serve/recordings/named_recordings.h"

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

TEST(NamedRecordings, OfOneNameAreToldApartByTheirDirectories) {
  NamedRecordings known({{"old/a.fathom", "/runs/old/a.fathom"},
                         {"new/a.fathom", "/runs/new/a.fathom"},
                         {"new/b.fathom", "/runs/new/b.fathom"}});
  const auto name = [&](const char* id) { return known.find(id).value().name; };
  EXPECT_EQ(name("a.fathom"), "old/a.fathom");
  EXPECT_EQ(name("a.fathom-2"), "new/a.fathom");
  EXPECT_EQ(name("b.fathom"), "b.fathom");
}

}  // namespace
}  // namespace fathom::serve
