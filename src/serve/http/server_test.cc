// SPDX-License-Identifier: MIT
// The whole way: a server on this machine, our own client, and the store that lies behind them.
#include "serve/http/server.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fleet/http/http_client.h"
#include "fleet/sha256.h"
#include "fleet/stores/remote_store.h"
#include "serve/http/certificate.h"
#include "serve/testing/site.h"

namespace fathom::serve {
namespace {

using fleet::HttpAnswer;
using fleet::HttpClient;

// A server of a site that runs until the object goes.
class Running {
 public:
  explicit Running(Site& site, const std::optional<TlsKeys>& keys = std::nullopt) {
    Result<Server> server = Server::listen(site.router(), {"127.0.0.1", 0}, keys);
    EXPECT_TRUE(server) << (server ? "" : server.error().message);
    server_ = std::make_unique<Server>(std::move(*server));
    thread_ = std::thread([this] { server_->run(); });
  }
  ~Running() { stop(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }

  std::string url() const { return server_->local_url(); }
  HttpClient client(fleet::HttpOptions options = {}) const {
    options.url = url();
    options.headers.push_back({"Authorization", "Bearer own"});
    Result<HttpClient> client = HttpClient::make(std::move(options));
    EXPECT_TRUE(client);
    return std::move(*client);
  }
  std::unique_ptr<fleet::JobStore> store(const std::string& fingerprint = "",
                                         const std::string& token = "own") const {
    auto store = fleet::open_remote_store(
        {.url = url(), .token = token, .fingerprint = fingerprint, .ca_file = {}});
    EXPECT_TRUE(store);
    return std::move(*store);
  }

 private:
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

TEST(Server, AnswersSeveralRequestsOfAConnection) {
  Site site;
  const Running server(site);
  HttpClient client = server.client();
  for (int i = 0; i < 3; ++i) {
    const Result<HttpAnswer> answer = client.ask({.target = "/healthz"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "{\"status\":\"ok\"}\n");
  }
  EXPECT_NE(site.metrics().text().find("fathom_connections_total 1\n"), std::string::npos);
}

TEST(Server, KeepsJobsForThoseFarAway) {
  Site site;
  const Running server(site);
  const auto store = server.store();
  ASSERT_TRUE(store->create({"j", "about \"it\"", 0}));
  EXPECT_EQ(store->create({"j", "", 0}).error().code, Code::kExists);
  EXPECT_EQ(store->create({"a b", "", 0}).error().code, Code::kInvalid);
  const std::string odd("a\"b\\\n\0\xc3\xb6", 8);
  const fleet::ProfileBatch batch{{"c", 1}, {{odd, "a b", "e", 5}, {"f", "", "e", 9}}};
  for (int sent = 0; sent < 2; ++sent) ASSERT_TRUE(store->add_profile("j", batch));
  std::vector<fleet::ProfileRow> rows;
  ASSERT_TRUE(store->profile("j", [&](const fleet::ProfileRow& row) {
    rows.push_back(row);
    return true;
  }));
  EXPECT_EQ(rows, batch.rows);
  ASSERT_TRUE(store->add_records("j", "benchmark", {{"c", 1}, {R"({"a": 1})", R"({"b":[]})"}}));
  std::vector<std::string> records;
  const auto take = [&](std::int64_t index, const std::string& text) {
    records.push_back(std::to_string(index) + text);
    return true;
  };
  ASSERT_TRUE(store->records("j", "benchmark", 1, take));
  EXPECT_EQ(records, std::vector<std::string>{R"(1{"b":[]})"});
  EXPECT_EQ(store->job("j")->benchmarks, 2);
  EXPECT_EQ(store->jobs()->at(0).info, "about \"it\"");
  ASSERT_TRUE(store->add_kind({"loss", R"({"type":"object"})"}));
  EXPECT_EQ(store->kinds()->at(0).schema, R"({"type":"object"})");
  ASSERT_TRUE(store->clear_records("j", "benchmark"));
  ASSERT_TRUE(store->clear_profile("j"));
  EXPECT_EQ(store->job("j")->benchmarks, 0);
  ASSERT_TRUE(store->remove("j"));
  EXPECT_EQ(store->job("j").error().code, Code::kNotFound);
}

TEST(Server, AWrongTokenAndAFailedStoreAreToldApart) {
  Site site;
  const Running server(site);
  EXPECT_EQ(server.store("", "wrong")->jobs().error().code, Code::kDenied);
  site.store().fail_with(Error{Code::kFull, "no room", ""});
  EXPECT_EQ(server.store()->create({"j", "", 0}).error().code, Code::kFull);
  site.store().fail_with(Error{Code::kUnavailable, "away", ""});
  const Error away = server.store()->jobs().error();
  EXPECT_EQ(away.code, Code::kUnavailable);
  EXPECT_EQ(away.message, "away");
}

TEST(Server, AServerThatIsGoneIsUnavailable) {
  Site site;
  Running server(site);
  const auto store = server.store();
  ASSERT_TRUE(store->jobs());
  server.stop();
  EXPECT_EQ(store->jobs().error().code, Code::kUnavailable);
}

TEST(Server, ABusyServerIsAskedAgain) {
  Site site;
  const Running server(site);
  site.store().fail_with(Error{Code::kUnavailable, "away", ""});
  std::thread mender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    site.store().fail_with(std::nullopt);
  });
  fleet::HttpOptions options;
  options.patience = std::chrono::seconds(60);
  const Result<HttpAnswer> answer = server.client(options).ask({.target = "/api/v1/jobs"});
  mender.join();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

TEST(Server, TlsIsTrustedByTheFingerprintAlone) {
  Site site;
  ASSERT_TRUE(make_first_token(site.directory()));
  const Result<TlsKeys> keys = own_keys(site.directory());
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(own_keys(site.directory())->certificate, keys->certificate) << "made once";
  const Result<std::string> fingerprint = fingerprint_of(*keys);
  ASSERT_TRUE(fingerprint);
  const Running server(site, *keys);
  EXPECT_TRUE(server.url().starts_with("https://"));
  EXPECT_TRUE(server.store(*fingerprint)->jobs());
  EXPECT_EQ(server.store(std::string(64, '0'))->jobs().error().code, Code::kDenied);
  EXPECT_EQ(server.store()->jobs().error().code, Code::kDenied);
}

TEST(Server, LongAnswersAreWholeAndBounded) {
  Site site;
  const Running server(site);
  ASSERT_TRUE(site.store().create({"j", "", 0}));
  fleet::ProfileBatch batch{{"c", 1}, {}};
  for (int i = 0; i < 100'000; ++i)
    batch.rows.push_back({"function " + std::to_string(100'000 + i), "a", "e", i});
  ASSERT_TRUE(server.store()->add_profile("j", batch));
  std::size_t rows = 0;
  ASSERT_TRUE(server.store()->profile("j", [&](const fleet::ProfileRow& row) {
    EXPECT_EQ(row, batch.rows[rows]);
    ++rows;
    return true;
  }));
  EXPECT_EQ(rows, batch.rows.size());
  fleet::HttpOptions options;
  options.most_bytes = 1000;
  const auto answer = server.client(options).ask({.target = "/api/v1/jobs/j/profile"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kCorrupt);
}

// Longer than what may lie in memory, and than a body of other routes.
TEST(Server, AContentOfAnyLengthGoesStraightToItsPlace) {
  Limits limits;
  limits.memory = 1000;
  limits.body_bytes = 1000;
  Site site(limits);
  const Running server(site);
  const std::string text(3'000'000, 'x');
  fleet::Sha256 hash;
  hash.add(text);
  const std::string target = "/api/v1/contents/" + hash.hex();
  HttpClient client = server.client();
  EXPECT_EQ(client.ask({.method = "PUT", .target = target, .headers = {}, .body = text})->status,
            201);
  const auto other =
      client.ask({.method = "PUT", .target = target, .headers = {}, .body = text + "y"});
  EXPECT_EQ(other->status, 400) << other->body;
  EXPECT_EQ(client.ask({.target = "/healthz"})->status, 200);
}

TEST(Server, EventsComeUntilTheServerStops) {
  Site site;
  Running server(site);
  HttpClient client = server.client();
  std::string text;
  std::thread stopper;
  const Result<HttpAnswer> answer =
      client.stream({.target = "/api/v1/events"}, [&](std::string_view bytes) {
        text += bytes;
        if (!stopper.joinable()) stopper = std::thread([&] { server.stop(); });
        return true;
      });
  ASSERT_TRUE(answer) << answer.error().message;
  stopper.join();
  EXPECT_EQ(answer->header("content-type"), "text/event-stream");
  EXPECT_TRUE(text.starts_with(": nothing\n\n"));
}

TEST(Server, TooManyConnectionsAreRefused) {
  Limits limits;
  limits.connections = 2;
  Site site(limits);
  const Running server(site);
  HttpClient first = server.client();
  HttpClient second = server.client();
  ASSERT_EQ(first.ask({.target = "/healthz"})->status, 200);
  ASSERT_EQ(second.ask({.target = "/healthz"})->status, 200);
  const Result<HttpAnswer> third = server.client().ask({.target = "/healthz"});
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->status, 429);
  EXPECT_EQ(third->header("Retry-After"), "1");
}

// A line of a stranger, to whom nothing is answered.
class Line {
 public:
  Line(const std::string& url, const std::string& text)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  ~Line() { ::close(socket_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Waits for the end of what is sent to it.
  void wait_for_end() const {
    char byte = 0;
    while (::recv(socket_, &byte, 1, 0) > 0) {
    }
  }

 private:
  int socket_;
};

void wait_for_connections(Site& site, int count) {
  const std::string line = "\nfathom_connections " + std::to_string(count) + "\n";
  while (site.metrics().text().find(line) == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Server, StrangersGiveWay) {
  Limits limits;
  limits.connections = 3;
  limits.header_time = limits.idle_time = limits.body_grace = std::chrono::hours(1);
  Site site(limits);
  const Running server(site);
  HttpClient owner = server.client();
  ASSERT_EQ(owner.ask({.target = "/api/v1/jobs"})->status, 200);
  const Line oldest(server.url(), "GET / HTTP/1.1\r\nHost: ");
  wait_for_connections(site, 2);
  const Line slow(server.url(), "POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
  wait_for_connections(site, 3);
  EXPECT_EQ(server.client().ask({.target = "/api/v1/jobs"})->status, 200);
  oldest.wait_for_end();
  std::vector<std::unique_ptr<Line>> many;
  for (int i = 0; i < 50; ++i)
    many.push_back(std::make_unique<Line>(server.url(), "GET / HTTP/1.1\r\n"));
  slow.wait_for_end();
  EXPECT_EQ(server.client().ask({.target = "/api/v1/jobs"})->status, 200);
  EXPECT_EQ(owner.ask({.target = "/api/v1/jobs"})->status, 200);
  EXPECT_NE(site.metrics().text().find("fathom_connections_total 55"), std::string::npos)
      << "nobody with a token was let go: " << site.metrics().text();
}

TEST(Server, BodiesShareTheMemory) {
  Limits limits;
  limits.memory = 1000;
  Site site(limits);
  const Running server(site);
  const Result<HttpAnswer> answer = server.client().ask(
      {.method = "POST", .target = "/api/v1/jobs", .headers = {}, .body = std::string(2000, ' ')});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 429);
}

TEST(Server, SlowPeersAreLetGo) {
  Limits limits;
  limits.header_time = limits.idle_time = limits.body_grace = std::chrono::milliseconds(50);
  Site site(limits);
  const Running server(site);
  HttpClient client = server.client();
  ASSERT_EQ(client.ask({.target = "/healthz"})->status, 200);
  for (int waits = 0; waits < 1000; ++waits) {
    if (site.metrics().text().find("\nfathom_connections 0\n") != std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(site.metrics().text().find("\nfathom_connections 0\n"), std::string::npos);
  EXPECT_EQ(client.ask({.target = "/healthz"})->status, 200) << "the client comes again by itself";
}

TEST(Server, StopsWhileAClientIsSilent) {
  Site site;
  Running server(site);
  HttpClient client = server.client();
  ASSERT_EQ(client.ask({.target = "/healthz"})->status, 200);
  server.stop();  // the connection is still open
}

TEST(Address, LoopbackIsThisMachineAlone) {
  EXPECT_TRUE(*is_loopback({"127.0.0.1", 0}));
  EXPECT_TRUE(*is_loopback({"::1", 0}));
  EXPECT_FALSE(*is_loopback({"0.0.0.0", 0}));
  EXPECT_FALSE(*is_loopback({"::", 0}));
}

}  // namespace
}  // namespace fathom::serve
