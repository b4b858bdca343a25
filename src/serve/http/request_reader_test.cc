// SPDX-License-Identifier: MIT
#include "serve/http/request_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::serve {
namespace {

using Stage = RequestReader::Stage;

constexpr char kGet[] = "GET /a?b=c HTTP/1.1\r\nHost: x\r\nX-A: b \r\n\r\n";

std::string post(const std::string& headers, const std::string& body) {
  return "POST /a HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body;
}

// Fed whole, and with every body welcome.
void feed(RequestReader& reader, std::string_view text, std::uint64_t most = 1000) {
  reader.feed(text);
  if (reader.stage() == Stage::kHeadDone) reader.welcome_body(most);
}

int refused_with(const std::string& text, const Limits& limits = {}) {
  RequestReader reader(limits);
  feed(reader, text, limits.body_bytes);
  return reader.stage() == Stage::kRefused ? reader.refused().status : 0;
}

TEST(RequestReader, ReadsARequestWithoutABody) {
  RequestReader reader(Limits{});
  reader.feed(kGet);
  ASSERT_EQ(reader.stage(), Stage::kHeadDone);
  const Head& head = reader.request().head;
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.target, "/a?b=c");
  EXPECT_EQ(head.header("x-a"), "b");
  reader.welcome_body(1000);
  EXPECT_EQ(reader.stage(), Stage::kDone);
  EXPECT_EQ(reader.take_body(), "");
}

TEST(RequestReader, ABodyMayComeInAnyPieces) {
  const std::string texts[] = {
      post("Content-Length: 5\r\n", "hello"),
      post("Transfer-Encoding: Chunked\r\n", "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: v\r\n\r\n")};
  for (const std::string& text : texts) {
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      RequestReader reader(Limits{});
      feed(reader, text.substr(0, cut));
      EXPECT_NE(reader.stage(), Stage::kDone) << cut;
      feed(reader, text.substr(cut));
      ASSERT_EQ(reader.stage(), Stage::kDone) << cut;
      EXPECT_EQ(reader.take_body(), "hello") << cut;
    }
  }
}

TEST(RequestReader, ALongBodyCanBeTakenInParts) {
  RequestReader reader(Limits{});
  feed(reader, post("Content-Length: 6\r\n", "abc"));
  EXPECT_EQ(reader.body_size(), 3U);
  EXPECT_EQ(reader.take_body(), "abc");
  reader.feed("defGET");
  EXPECT_EQ(reader.stage(), Stage::kDone);
  EXPECT_EQ(reader.take_body(), "def");
}

TEST(RequestReader, RequestsFollowEachOther) {
  RequestReader reader(Limits{});
  feed(reader, post("Content-Length: 2\r\n", "hi") + kGet + kGet);
  EXPECT_EQ(reader.take_body(), "hi");
  for (int more = 0; more < 2; ++more) {
    reader.next();
    ASSERT_EQ(reader.stage(), Stage::kHeadDone);
    EXPECT_EQ(reader.request().head.method, "GET");
    reader.welcome_body(1000);
    EXPECT_EQ(reader.stage(), Stage::kDone);
  }
  reader.next();
  EXPECT_EQ(reader.stage(), Stage::kHead);
  EXPECT_FALSE(reader.has_begun());
}

TEST(RequestReader, LengthsThatCanBeReadInTwoWaysAreRefused) {
  using std::string_literals::operator""s;
  const std::string both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
  for (const std::string& headers :
       {both,
        "Content-Length: 0\r\nContent-Length: 5\r\n"s,
        "Content-Length: 5, 0\r\n"s,
        "Content-Length: +5\r\n"s,
        "Content-Length: -1\r\n"s,
        "Content-Length: 0x5\r\n"s,
        "Content-Length: 5.0\r\n"s,
        "Content-Length:\r\n"s,
        "Content-Length:\r\n 5\r\n"s,
        "Content-Length : 5\r\n"s,
        "X-A: b\0c\r\n"s,
        "X-A: b\nContent-Length: 5\r\n"s,
        "Transfer-Encoding: xchunked\r\n"s,
        "Transfer-Encoding: gzip, chunked\r\n"s,
        "Transfer-Encoding: chunked, identity\r\n"s,
        "Transfer-Encoding : chunked\r\n"s,
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"s,
        "Host: y\r\n"s,
        " folded\r\n"s,
        ": none\r\n"s,
        "none\r\n"s})
    EXPECT_EQ(refused_with(post(headers, "hello")), 400) << headers;
}

TEST(RequestReader, BadChunksAreRefused) {
  for (const char* body : {"10000000000000000\r\nx", "-1\r\nx", "x\r\n", "1\r\nabc\r\n", "\r\n"})
    EXPECT_EQ(refused_with(post("Transfer-Encoding: chunked\r\n", body)), 400) << body;
  const std::string endless = "1;" + std::string(200'000, 'x');
  EXPECT_EQ(refused_with(post("Transfer-Encoding: chunked\r\n", endless)), 400);
}

TEST(RequestReader, WhatIsNoHttpIsRefusedAtOnce) {
  for (const char* text : {"\x16\x03\x01", "SSH-2.0-OpenSSH_9.2\r\n", "*1\r\n$4\r\nPING\r\n",
                           "GET /a\r\n", "GET HTTP/1.1\r\n", "GET /a b HTTP/1.1\r\n"})
    EXPECT_EQ(refused_with(text), 400) << text;
  EXPECT_EQ(refused_with("GET / HTTP/9.9\r\n"), 505);
  EXPECT_EQ(refused_with("GET / HTTP/1.0\r\n"), 505);
  EXPECT_EQ(refused_with("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(refused_with("GET /a HTTP/1.1\r\n\r\n"), 400);  // no host
  EXPECT_EQ(refused_with(post("Expect: a miracle\r\n", "")), 417);
}

TEST(RequestReader, WhatIsNoHttpIsRefusedAtOnceLaterToo) {
  RequestReader reader(Limits{});
  feed(reader, kGet);
  ASSERT_EQ(reader.stage(), Stage::kDone);
  reader.next();
  reader.feed("SSH-2.0-OpenSSH_9.2\r\n");
  ASSERT_EQ(reader.stage(), Stage::kRefused);
  EXPECT_EQ(reader.refused().status, 400);
}

TEST(RequestReader, TheOldWireIsRecognised) {
  RequestReader reader(Limits{});
  reader.feed("{");
  EXPECT_EQ(reader.stage(), Stage::kRefused);
  EXPECT_TRUE(reader.speaks_old_wire());
}

TEST(RequestReader, SizesHaveLimits) {
  Limits limits;
  limits.header_bytes = 200;
  limits.body_bytes = 10;
  EXPECT_EQ(refused_with(post("X-A: " + std::string(100, 'a') + "\r\n", ""), limits), 0);
  EXPECT_EQ(refused_with(post("X-A: " + std::string(200, 'a') + "\r\n", ""), limits), 431);
  EXPECT_EQ(refused_with("GET /" + std::string(300, 'a'), limits), 431);
  EXPECT_EQ(refused_with(post("Content-Length: 10\r\n", "0123456789"), limits), 0);
  EXPECT_EQ(refused_with(post("Content-Length: 11\r\n", ""), limits), 413);
  EXPECT_EQ(refused_with(post("Content-Length: 18446744073709551616\r\n", ""), limits), 400);
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(refused_with(post(chunked, "6\r\n012345\r\n5\r\n01234\r\n0\r\n\r\n"), limits), 413);
}

TEST(RequestReader, ManyHeadersAreBoundedByTheirBytes) {
  std::string headers;
  for (int i = 0; i < 100'000; ++i) headers += "X: y\r\n";
  EXPECT_EQ(refused_with(post(headers, "")), 431);
}

}  // namespace
}  // namespace fathom::serve
