// SPDX-License-Identifier: MIT
#include "fleet/http/http_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "fleet/http/http_answer.h"
#include "fleet/http/http_url.h"

namespace fathom::fleet {
namespace {

TEST(HttpUrl, Parts) {
  const Result<HttpUrl> url = parse_http_url("https://[::1]:8443/ci/");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->prefix, "/ci");
  EXPECT_EQ(url->authority(), "[::1]:8443");
  EXPECT_EQ(parse_http_url("http://build")->port, "80");
  EXPECT_EQ(parse_http_url("http://build")->authority(), "build");
  EXPECT_EQ(parse_http_url("unix:/var/run/docker.sock")->socket, "/var/run/docker.sock");
  EXPECT_EQ(parse_http_url("unix:///var/run/docker.sock")->socket, "/var/run/docker.sock");
  for (const char* text :
       {"", "x", "ftp://x", "http://", "http://:80", "http://x:0", "http://x:70000", "http://a b",
        "http://a@b", "http://x:1\r\nEvil: y", "unix:", "http://[::1"})
    EXPECT_FALSE(parse_http_url(text)) << text;
}

struct Read {
  Status status;
  HttpAnswer answer;
  std::string body;
  bool done = false;
};

Read read(const std::string& text, std::size_t piece, bool ends = false) {
  Read result;
  AnswerReader reader(false, [&](std::string_view bytes) {
    result.body += bytes;
    return true;
  });
  for (std::size_t at = 0; at < text.size() && result.status; at += piece)
    result.status = reader.feed(std::string_view(text).substr(at, piece));
  if (ends && result.status && !reader.is_done()) result.status = reader.finish();
  result.done = reader.is_done();
  result.answer = reader.head();
  return result;
}

TEST(AnswerReader, ReadsAnswersInAnyPieces) {
  const std::string texts[] = {
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nX-a: b\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"};
  for (const std::string& text : texts) {
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      const Read got = read(text, piece);
      ASSERT_TRUE(got.status) << got.status.error().message;
      EXPECT_TRUE(got.done);
      EXPECT_EQ(got.answer.status, 200);
      EXPECT_EQ(got.answer.header("x-A"), "b");
      EXPECT_EQ(got.body, "hello");
    }
  }
}

TEST(AnswerReader, AnAnswerMayEndWithTheConnection) {
  const Read got = read("HTTP/1.1 200 OK\r\n\r\nhello", 100, /*ends=*/true);
  EXPECT_TRUE(got.status);
  EXPECT_EQ(got.body, "hello");
  EXPECT_FALSE(
      read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", 100, /*ends=*/true).status);
  EXPECT_EQ(read("HTT", 100, /*ends=*/true).status.error().code, Code::kUnavailable);
}

TEST(AnswerReader, LongBodiesComeInPieces) {
  const std::string body(1'000'000, 'x');
  const Read got = read("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + body, 200'000);
  ASSERT_TRUE(got.status);
  EXPECT_EQ(got.body, body);
}

TEST(AnswerReader, WhatIsNoAnswerIsRefused) {
  for (const std::string& text :
       {std::string("rubbish\r\n\r\n"), std::string("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
        "HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'y'),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n")})
    EXPECT_EQ(read(text, 50'000).status.error().code, Code::kCorrupt) << text.substr(0, 60);
}

// As Docker's engine listens.
TEST(HttpClient, AsksBehindAUnixSocket) {
  const std::string path = ::testing::TempDir() + "/http." + std::to_string(::getpid());
  ::unlink(path.c_str());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  std::string heard;
  std::thread engine([&] {
    const int peer = ::accept(listener, nullptr, nullptr);
    char text[1000];
    const ssize_t size = ::read(peer, text, sizeof(text));
    heard.assign(text, static_cast<std::size_t>(size));
    constexpr std::string_view kAnswer = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}";
    EXPECT_EQ(::write(peer, kAnswer.data(), kAnswer.size()), static_cast<ssize_t>(kAnswer.size()));
    ::close(peer);
  });
  Result<HttpClient> client = HttpClient::make({.url = "unix:" + path});
  ASSERT_TRUE(client);
  const Result<HttpAnswer> answer = client->ask({.target = "/v1/x"});
  engine.join();
  ::close(listener);
  ::unlink(path.c_str());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->body, "{}");
  EXPECT_TRUE(heard.starts_with("GET /v1/x HTTP/1.1\r\nHost: localhost\r\n")) << heard;
  EXPECT_EQ(client->ask({.target = "/"}).error().code, Code::kUnavailable);
}

TEST(HttpClient, AHeaderCannotHideAnother) {
  Result<HttpClient> client = HttpClient::make({.url = "http://127.0.0.1:1"});
  ASSERT_TRUE(client);
  EXPECT_EQ(client->ask({.target = "/a\r\nX: y"}).error().code, Code::kInvalid);
  EXPECT_EQ(client->ask({.target = "/", .headers = {{"X", "y\r\nZ: 1"}}}).error().code,
            Code::kInvalid);
  EXPECT_EQ(client->ask({.target = "/"}).error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace fathom::fleet
