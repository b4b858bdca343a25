// SPDX-License-Identifier: MIT
#include "fleet/http/host_names.h"

#include <gtest/gtest.h>

namespace fathom::fleet {
namespace {

bool fits(const HostNames& names, const char* host) {
  return names.fit({"GET", "/", {{"Host", host}}});
}

TEST(HostNames, AreWithoutTheirPort) {
  const struct {
    const char* header;
    const char* name;
  } cases[] = {{"localhost", "localhost"},
               {"LocalHost:80", "localhost"},
               {"[::1]:8080", "[::1]"},
               {"[::1]", "[::1]"},
               {"a:b", ""},
               {"a:123456", ""},
               {"[::1", ""},
               {"[::1]x", ""},
               {"", ""}};
  for (const auto& c : cases) EXPECT_EQ(host_name(c.header), c.name) << c.header;
}

TEST(HostNames, OnlyThoseOfTheServerFit) {
  const HostNames near = host_names_for("127.0.0.1", false);
  for (const char* host : {"127.0.0.1:1", "localhost:99", "[::1]:7", "LOCALHOST"})
    EXPECT_TRUE(fits(near, host)) << host;
  for (const char* host : {"evil.example", "evil.example:1", "localhost.evil.example", "10.0.0.1",
                           "127.0.0.1.evil.example", "", "localhost:x"})
    EXPECT_FALSE(fits(near, host)) << host;
  EXPECT_FALSE(near.fit({"GET", "/", {}}));
  EXPECT_FALSE(near.fit({"GET", "/", {{"Host", "localhost"}, {"host", "localhost"}}}));
  EXPECT_TRUE(fits(host_names_for("Build.Example", false), "build.example:80"));
  EXPECT_TRUE(fits(host_names_for("fe80::1", false), "[fe80::1]:80"));
  const HostNames all = host_names_for("0.0.0.0", true);
  EXPECT_TRUE(fits(all, "10.1.2.3:80"));
  EXPECT_TRUE(fits(all, "[fe80::1]:80"));
  EXPECT_FALSE(fits(all, "evil.example"));
  EXPECT_FALSE(fits(all, "1.2.3.4.example"));
}

}  // namespace
}  // namespace fathom::fleet
