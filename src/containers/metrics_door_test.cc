// SPDX-License-Identifier: MIT
#include "containers/metrics_door.h"

#include <gtest/gtest.h>

#include "fleet/http_client.h"

namespace fathom::containers {
namespace {

std::string page() { return "a 1\n"; }

// The status and the body of the answer.
std::pair<int, std::string> ask(const std::string& question) {
  const std::string all =
      metrics_answer(question, fleet::host_names_for("127.0.0.1", /*is_unspecified=*/false), page);
  EXPECT_TRUE(all.starts_with("HTTP/1.1 ")) << all;
  const std::size_t end = all.find("\r\n\r\n");
  EXPECT_NE(end, std::string::npos) << all;
  return {std::stoi(all.substr(9)), all.substr(end + 4)};
}

std::pair<int, std::string> get(const std::string& target, const std::string& host) {
  return ask("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
}

TEST(MetricsDoor, AnswersWhoKnowsItsAddress) {
  for (const char* host : {"127.0.0.1:9100", "localhost:9100", "[::1]:9100", "localhost"})
    EXPECT_EQ(get("/metrics", host), std::pair(200, page())) << host;
  EXPECT_EQ(get("/", "localhost").first, 200);
  EXPECT_EQ(get("/metrics?name=x", "localhost").first, 200) << "as Prometheus may ask";
}

// A page of somebody else's, whose name leads to this address by now.
TEST(MetricsDoor, AnswersNoOtherName) {
  for (const char* host : {"evil.example", "evil.example:9100", "127.0.0.1.evil.example",
                           "10.0.0.1", "", "localhost\r\nHost: localhost"}) {
    const auto [status, body] = get("/metrics", host);
    EXPECT_TRUE(status == 421 || status == 400) << host << ": " << status;
    EXPECT_EQ(body.find("a 1"), std::string::npos) << host;
  }
  EXPECT_EQ(ask("GET /metrics HTTP/1.1\r\n\r\n").first, 400) << "no Host";
}

TEST(MetricsDoor, RefusesWhatIsNoQuestion) {
  EXPECT_EQ(get("/metric", "localhost").first, 404);
  EXPECT_EQ(ask("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").first, 405);
  EXPECT_EQ(ask("GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n").first, 505);
  EXPECT_EQ(ask("").first, 400);
  EXPECT_EQ(ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n").first, 400) << "cut off";
  EXPECT_EQ(ask("GET /metrics HTTP/1.1\nHost: localhost\n\n").first, 400);
  EXPECT_EQ(ask("GET /" + std::string(10'000, 'x')).first, 431);
}

TEST(MetricsDoor, IsAtLoopbackUnlessTold) {
  const Result<MetricsDoor> door = MetricsDoor::open("0", "--metrics");
  ASSERT_TRUE(door) << door.error().message;
  EXPECT_TRUE(door->address().starts_with("127.0.0.1:"));
  EXPECT_FALSE(MetricsDoor::open(door->address(), "--metrics")) << "it is taken";
  for (const char* wrong : {"", "x", "1:2:3", "70000"})
    EXPECT_EQ(MetricsDoor::open(wrong, "--metrics").error().code, Code::kUsage) << wrong;
  EXPECT_EQ(MetricsDoor::open("no.such.invalid:0", "--metrics").error().code, Code::kNotFound);
}

TEST(MetricsDoor, ServesUntilItIsToldToStop) {
  const Result<MetricsDoor> door = MetricsDoor::open("localhost:0", "--metrics");
  ASSERT_TRUE(door) << door.error().message;
  const std::jthread thread([&](const std::stop_token& stop) { door->serve(stop, page); });
  for (int i = 0; i < 3; i++) {
    Result<fleet::HttpClient> client =
        fleet::HttpClient::make({.url = "http://" + door->address()});
    ASSERT_TRUE(client) << client.error().message;
    const Result<fleet::HttpAnswer> answer = client->ask({.target = "/metrics"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, page());
    EXPECT_EQ(answer->header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  }
}

}  // namespace
}  // namespace fathom::containers
