// SPDX-License-Identifier: MIT
#include "containers/metrics_door.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <vector>

#include "containers/metrics_clients.h"
#include "fleet/http/http_client.h"

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
  EXPECT_EQ(door->sentence(), "metrics are served at http://" + door->address() + "/metrics");
  EXPECT_TRUE(door->has_chosen_port());
  EXPECT_FALSE(MetricsDoor::open(door->address(), "--metrics")) << "it is taken";
  for (const char* wrong : {"", "x", "1:2:3", "70000"})
    EXPECT_EQ(MetricsDoor::open(wrong, "--metrics").error().code, Code::kUsage) << wrong;
  EXPECT_EQ(MetricsDoor::open("no.such.invalid:0", "--metrics").error().code, Code::kNotFound);
}

TEST(MetricsDoor, AColonAloneIsLoopbackAndAStarIsEveryone) {
  const Result<MetricsDoor> own = MetricsDoor::open(":0", "--metrics");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_TRUE(own->address().starts_with("127.0.0.1:")) << own->address();
  const Result<MetricsDoor> all = MetricsDoor::open("*:0", "--metrics");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE(all->address().starts_with("0.0.0.0:") || all->address().starts_with("[::]:"))
      << all->address();
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

constexpr std::int64_t kForever = std::int64_t{3600} * 1'000'000'000;

// A door that has its own thread, and gives `text` to whoever asks.
struct OpenDoor {
  explicit OpenDoor(MetricsText text, std::int64_t patience_ns = kForever)
      : thread([this, patience_ns, text = std::move(text)](const std::stop_token& stop) {
          door.serve(stop, text, patience_ns);
        }) {}
  [[nodiscard]] std::uint16_t port() const {
    return static_cast<std::uint16_t>(
        std::stoi(door.address().substr(door.address().rfind(':') + 1)));
  }
  [[nodiscard]] std::string body() const {
    Result<fleet::HttpClient> client = fleet::HttpClient::make(
        {.url = "http://" + door.address(), .connect_limit = std::chrono::milliseconds(30'000)});
    const Result<fleet::HttpAnswer> answer = client->ask({.target = "/metrics"});
    return answer ? answer->body : answer.error().message;
  }

  MetricsDoor door = MetricsDoor::open("0", "--metrics").value();
  std::jthread thread;  // last: it ends before what it uses
};

// A client that says what it is told to, and then nothing.
Fd client_that_says(const OpenDoor& open, std::string_view words) {
  Fd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int small = 4096;
  ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(open.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::send(connection.get(), words.data(), words.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(words.size()));
  return connection;
}

bool is_untouched(const Fd& connection) {  // neither answered nor closed
  pollfd waiting{connection.get(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 0;
}

std::string all_of(const Fd& connection) {
  std::string all;
  std::array<char, 4096> piece;
  ssize_t got = 0;
  while ((got = ::recv(connection.get(), piece.data(), piece.size(), 0)) > 0)
    all.append(piece.data(), static_cast<std::size_t>(got));
  return all;
}

constexpr std::string_view kHalf = "GET /metrics HTTP/1.1\r\n";
constexpr std::string_view kWhole = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST(MetricsDoor, NobodyWaitsForWhoStopsInTheMiddleOfAQuestion) {
  const OpenDoor open(page);
  std::vector<Fd> halves;
  for (int i = 0; i < 8; i++) halves.push_back(client_that_says(open, kHalf));
  EXPECT_EQ(open.body(), page());
  for (const Fd& half : halves) EXPECT_TRUE(is_untouched(half)) << "its time is not over";
  const std::string_view rest = kWhole.substr(kHalf.size());
  EXPECT_GT(::send(halves[3].get(), rest.data(), rest.size(), MSG_NOSIGNAL), 0);
  EXPECT_TRUE(all_of(halves[3]).ends_with("\r\n\r\n" + page())) << "who goes on is answered";
}  // the door closes while seven still have their time

TEST(MetricsDoor, NobodyWaitsForWhoDoesNotRead) {
  const std::string large = "a " + std::string(std::size_t{16} << 20, '1') + "\n";
  const OpenDoor open([&] { return large; });
  const Fd lazy = client_that_says(open, kWhole);
  EXPECT_EQ(open.body().size(), large.size());
  EXPECT_TRUE(all_of(lazy).ends_with("\r\n\r\n" + large)) << "it gets all of it, once it reads";
}

TEST(MetricsDoor, TheOldestMakesRoom) {
  const OpenDoor open(page);
  std::vector<Fd> halves;
  for (std::size_t i = 0; i < MetricsClients::kMost; i++)
    halves.push_back(client_that_says(open, kHalf));
  EXPECT_EQ(open.body(), page());
  EXPECT_EQ(all_of(halves[0]), "");
  for (std::size_t i = 1; i < halves.size(); i++) EXPECT_TRUE(is_untouched(halves[i])) << i;
}

TEST(MetricsDoor, TimeIsLimited) {
  const OpenDoor open(page, /*patience_ns=*/1);
  EXPECT_EQ(all_of(client_that_says(open, kHalf)), "") << "closed without an answer";
}

}  // namespace
}  // namespace fathom::containers
