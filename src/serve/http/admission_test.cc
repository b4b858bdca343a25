// SPDX-License-Identifier: MIT
#include "serve/http/admission.h"

#include <gtest/gtest.h>

namespace fathom::serve {
namespace {

int status_of(const Admission& admission, std::vector<Header> headers,
              const std::string& target = "/api/v1/page") {
  const Head head{"GET", target, std::move(headers)};
  const std::optional<Response> refused = refuse_stranger(admission, head);
  return refused ? refused->status : 200;
}

TEST(Admission, OnlyNamesOfThisServerAreHosts) {
  const Admission near = admission_for("127.0.0.1", false);
  for (const char* host : {"127.0.0.1:1", "localhost:99", "[::1]:7", "LOCALHOST"})
    EXPECT_EQ(status_of(near, {{"Host", host}}), 200) << host;
  for (const char* host : {"evil.example", "evil.example:1", "localhost.evil.example", "10.0.0.1",
                           "127.0.0.1.evil.example", "", "localhost:x"})
    EXPECT_EQ(status_of(near, {{"Host", host}}), 421) << host;
  EXPECT_EQ(status_of(near, {}), 421);
  EXPECT_EQ(status_of(near, {{"Host", "localhost"}, {"Host", "localhost"}}), 421);
  const Admission named = admission_for("Build.Example", false);
  EXPECT_EQ(status_of(named, {{"Host", "build.example:80"}}), 200);
  const Admission all = admission_for("0.0.0.0", true);
  EXPECT_EQ(status_of(all, {{"Host", "10.1.2.3:80"}}), 200);
  EXPECT_EQ(status_of(all, {{"Host", "[fe80::1]:80"}}), 200);
  EXPECT_EQ(status_of(all, {{"Host", "evil.example"}}), 421);
  EXPECT_EQ(status_of({}, {{"Host", "any.example"}}), 200) << "a server's agents use any name";
}

TEST(Admission, PagesFromElsewhereAreRefused) {
  const Admission near = admission_for("127.0.0.1", false);
  const auto ask = [&](std::vector<Header> headers, const char* target) {
    headers.push_back({"Host", "localhost:8"});
    return status_of(near, std::move(headers), target);
  };
  for (const char* origin : {"http://localhost:8", "https://LOCALHOST:8"})
    EXPECT_EQ(ask({{"Origin", origin}}, "/api/v1/query"), 200) << origin;
  for (const char* origin : {"http://localhost:9", "http://evil.example", "null", "", "file://",
                             "http://localhost:8.evil.example", "localhost:8"})
    EXPECT_EQ(ask({{"Origin", origin}}, "/"), 403) << origin;
  EXPECT_EQ(ask({{"Origin", "null"}, {"Sec-Fetch-Site", "same-origin"}}, "/login"), 200);
  EXPECT_EQ(ask({{"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}}, "/login"), 403);
  for (const char* site : {"same-origin", "none"})
    EXPECT_EQ(ask({{"Sec-Fetch-Site", site}}, "/api/v1/page"), 200) << site;
  for (const char* site : {"cross-site", "same-site", "?"})
    EXPECT_EQ(ask({{"Sec-Fetch-Site", site}}, "/api/v1/page"), 403) << site;
  EXPECT_EQ(ask({{"Sec-Fetch-Site", "cross-site"}}, "/"), 200) << "a link to the page";
}

// `fathom server`: programs come through proxies and by any name, browsers by those that it has.
TEST(Admission, AServerLooksAtTheHostOfWhoHasItsCookie) {
  Admission server = admission_for("127.0.0.1", false);
  server.frees_programs = true;
  server.cookie = "fathom-7";
  server.hosts.add("Fathom.Example");
  const auto ask = [&](std::vector<Header> headers, bool is_program = false) {
    const Head head{"GET", "/api/v1/page", std::move(headers)};
    const std::optional<Response> refused = refuse_stranger(server, head, is_program);
    return refused ? refused->status : 200;
  };
  const Header cookie{"Cookie", "fathom-7=x"};
  for (const char* host : {"127.0.0.1:7", "localhost:7", "fathom.example", "FATHOM.example:443"})
    EXPECT_EQ(ask({cookie, {"Host", host}}), 200) << host;
  for (const char* host : {"evil.example", "evil.example:7", "x.fathom.example", ""})
    EXPECT_EQ(ask({cookie, {"Host", host}}), 421) << host;
  EXPECT_EQ(ask({cookie}), 421);
  EXPECT_EQ(ask({{"Host", "evil.example"}}), 200) << "told apart by its token alone";
  EXPECT_EQ(ask({{"Cookie", "fathom-8=x"}, {"Host", "evil.example"}}), 200);
  EXPECT_EQ(ask({cookie, {"Host", "localhost:7"}, {"Origin", "http://localhost:8"}}), 403);
  EXPECT_EQ(ask({{"Host", "localhost:7"}, {"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(ask({cookie, {"Host", "any.example"}, {"Origin", "http://x"}}, true), 200);
}

TEST(Admission, Cookies) {
  const auto value = [](std::vector<Header> headers) {
    const Head head{"GET", "/", std::move(headers)};
    std::string all;
    for (const std::string_view one : cookie_values(head, "a")) all += std::string(one) + "|";
    return all;
  };
  EXPECT_EQ(value({{"Cookie", "a=1"}}), "1|");
  EXPECT_EQ(value({{"cookie", "b=2; a=1=x;c"}}), "1=x|");
  EXPECT_EQ(value({{"Cookie", "ab=1; ba=2"}}), "");
  EXPECT_EQ(value({{"Cookie", "a=1; a=2"}}), "1|2|") << "another port planted one";
  EXPECT_EQ(value({{"Cookie", "a=1"}, {"Cookie", "a=1"}}), "1|1|");
  EXPECT_EQ(value({}), "");
  const Header plain = set_cookie({.cookie = "a"}, "v");
  EXPECT_EQ(plain.value, "a=v; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_TRUE(set_cookie({.cookie = "a", .is_secure = true}, "v").value.ends_with("; Secure"));
}

}  // namespace
}  // namespace fathom::serve
