// SPDX-License-Identifier: MIT
// What only Redis can meet; store_test.cc has what every store promises.
#include "fleet/redis/redis_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "base/dice.h"
#include "base/files.h"
#include "base/text.h"
#include "fleet/redis/redis_errors.h"
#include "fleet/redis/redis_keys.h"
#include "fleet/redis/redis_nodes.h"
#include "fleet/stores/open_store.h"
#include "fleet/testing/redis_server.h"
#include "fleet/testing/rounds.h"

namespace fathom::fleet {
namespace {

using testing::RedisCluster;
using testing::RedisServer;

std::string folder_of(const std::string& name) {
  return ::testing::TempDir() + "/" + name + std::to_string(::getpid());
}

class RedisStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::has_redis_server())
      GTEST_SKIP() << "no redis-server here (apt install redis-server)";
  }
  static std::unique_ptr<JobStore> opened(const std::string& address) {
    Result<std::unique_ptr<JobStore>> store = open_store(address);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  static std::map<std::string, std::string> hash(const RedisServer& server,
                                                 const std::string& key) {
    std::map<std::string, std::string> fields;
    const RespValue answer = server.ask({"HGETALL", key});
    for (std::size_t at = 0; at + 1 < answer.items.size(); at += 2)
      fields[answer.items[at].text] = answer.items[at + 1].text;
    return fields;
  }
  static std::int64_t sum(JobStore& store, const std::string& node) {
    std::int64_t sum = 0;
    EXPECT_TRUE(store.profile("j", [&](const ProfileRow& row) {
      if (row.node == node) sum += row.count;
      return true;
    }));
    return sum;
  }
};

TEST_F(RedisStoreTest, HashesAreAsTheirReadersKnowThem) {
  const RedisServer server(folder_of("layout"));
  const auto store = opened(server.url());
  ASSERT_TRUE(store->create({"2001", "first job", 0}));
  ASSERT_TRUE(store->add_profile("2001", {{"c", 1},
                                          {{"f<int>", "/opt/clang++", "cycles", 5},
                                           {"f<int>", "/opt/clang++", "misses:u", 10}}}));
  ASSERT_TRUE(store->add_profile("2001", {{"c", 2}, {{"f<int>", "/opt/clang++", "misses:u", 7}}}));
  ASSERT_TRUE(store->add_records("2001", "benchmark", {{"c", 1}, {"{\"a\": 1}", "{}"}}));
  using Fields = std::map<std::string, std::string>;
  EXPECT_EQ(hash(server, "fathom:{2001}:node:/opt/clang++:f<int>"),
            (Fields{{"execname", "/opt/clang++"}, {"cycles", "5"}, {"misses:u", "17"}}));
  EXPECT_EQ(hash(server, "fathom:{2001}:job"),
            (Fields{{"info", "first job"}, {"benchmark", "2"}, {"0", "{\"a\": 1}"}, {"1", "{}"}}));
}

TEST_F(RedisStoreTest, OneThatForgetsIsRefused) {
  const RedisServer server(folder_of("forgets"), {"--appendonly", "no"});
  const auto refused = open_store(server.url());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnsupported);
  EXPECT_NE(refused.error().message.find("AOF"), std::string::npos);
  StoreOptions volatile_too;
  volatile_too.is_volatile = true;
  EXPECT_TRUE(open_store(server.url(), volatile_too));
  server.ask({"CONFIG", "SET", "appendonly", "yes"});
  EXPECT_TRUE(open_store(server.url()));
  server.ask({"CONFIG", "SET", "appendfsync", "everysec"});
  EXPECT_EQ(open_store(server.url()).error().code, Code::kUnsupported);
  server.ask({"CONFIG", "SET", "appendfsync", "always"});
  server.ask({"CONFIG", "SET", "maxmemory", "100mb"});
  EXPECT_TRUE(open_store(server.url()));
  server.ask({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  EXPECT_EQ(open_store(server.url()).error().code, Code::kUnsupported);
}

TEST_F(RedisStoreTest, NobodyThereAndNoRedis) {
  const std::string nobody = "redis://127.0.0.1:" + std::to_string(testing::free_port()) + "/0";
  EXPECT_EQ(open_store(nobody).error().code, Code::kUnavailable);
  EXPECT_EQ(open_store("redis+unix:/nowhere/socket").error().code, Code::kUnavailable);
  EXPECT_EQ(open_store("redis+unix:/" + std::string(300, 'x')).error().code, Code::kInvalid);
  EXPECT_EQ(open_store("mysql://x").error().code, Code::kInvalid);
  EXPECT_EQ(open_store("sqlite:").error().code, Code::kInvalid);
}

TEST_F(RedisStoreTest, UsersAndPasswords) {
  const RedisServer server(folder_of("users"));
  // The rights that docs/formats/jobs.md names.
  const std::string docs =
      "+@hash +@sortedset +@set +@list +@string +@keyspace +@transaction +@scripting "
      "+@connection -@dangerous +info +config|get +cluster|slots";
  std::vector<std::string_view> rights = {"ACL", "SETUSER", "fathom", "on", ">sesame", "~fathom:*"};
  for (const std::string_view right : split(docs, ' ')) rights.push_back(right);
  ASSERT_EQ(server.ask(rights).text, "OK");
  const std::string at = "127.0.0.1:" + std::to_string(server.port());
  const auto store = opened("redis://fathom:sesame@" + at + "/3");
  ASSERT_TRUE(store->create({"j", "", 0}));
  ASSERT_TRUE(store->add_kind({"heap", "{}"}));
  ASSERT_TRUE(store->add_profile("j", {{"c", 1}, {{"f", "a", "e", INT64_MAX}}}));
  ASSERT_TRUE(store->add_records("j", "benchmark", {{"c", 1}, {"{}"}}));
  ASSERT_TRUE(store->add_records("j", "heap", {{"c", 1}, {"{}"}}));
  EXPECT_EQ(sum(*store, "f"), INT64_MAX);
  ASSERT_TRUE(store->clear_profile("j"));
  ASSERT_TRUE(store->clear_records("j", "heap"));
  ASSERT_TRUE(store->remove("j"));
  EXPECT_TRUE(store->jobs()->empty());
  const auto denied = open_store("redis://fathom:wrong@" + at);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Code::kDenied);
  EXPECT_EQ(denied.error().message.find("wrong"), std::string::npos);
  const std::string file = folder_of("password");
  std::ofstream(file) << "sesame\n";
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  StoreOptions by_file;
  by_file.redis_password_file = file;
  EXPECT_TRUE(open_store("redis://fathom@" + at, by_file));
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_FALSE(open_store("redis://fathom@" + at, by_file));
  ::unlink(file.c_str());
}

TEST_F(RedisStoreTest, BySocketAndByDatabase) {
  const RedisServer server(folder_of("socket"));
  const auto first = opened("redis+unix:" + server.socket());
  const auto second = opened("redis+unix:" + server.socket() + "?db=1");
  ASSERT_TRUE(first->create({"j", "", 0}));
  EXPECT_EQ(first->jobs()->size(), 1);
  EXPECT_EQ(second->jobs()->size(), 0);
}

TEST_F(RedisStoreTest, TlsIsChecked) {
  const std::string folder = folder_of("tls");
  ASSERT_TRUE(make_dirs(folder + "-keys"));
  const std::string key = folder + "-keys/key.pem";
  const std::string cert = folder + "-keys/cert.pem";
  const std::string make =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
      "-subj /CN=redis -addext subjectAltName=IP:127.0.0.1 -keyout " +
      key + " -out " + cert + " 2>/dev/null";
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "no openssl here (apt install openssl)";
  const std::uint16_t port = testing::free_port();
  const RedisServer server(folder, {"--tls-port", std::to_string(port), "--tls-cert-file", cert,
                                    "--tls-key-file", key, "--tls-auth-clients", "no"});
  if (server.ask({"PING"}).text != "PONG") GTEST_SKIP() << "this redis-server has no TLS";
  const std::string at = "127.0.0.1:" + std::to_string(port);
  StoreOptions with_ca;
  with_ca.redis_ca_file = cert;
  const auto store = open_store("rediss://" + at, with_ca);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->create({"j", "", 0}));
  EXPECT_EQ(open_store("rediss://" + at).error().code, Code::kDenied) << "an unknown CA";
  EXPECT_EQ(open_store("rediss://localhost:" + std::to_string(port), with_ca).error().code,
            Code::kDenied)
      << "a certificate for another name";
  EXPECT_FALSE(open_store("redis://" + at)) << "plain words to TLS";
  (void)remove_tree(folder + "-keys");
}

TEST_F(RedisStoreTest, FullMemoryIsFull) {
  const RedisServer server(folder_of("full"));
  const auto store = opened(server.url());
  ASSERT_TRUE(store->create({"j", "", 0}));
  server.ask({"CONFIG", "SET", "maxmemory", "1"});
  const ProfileBatch batch{{"c", 1}, {{"f", "a", "e", 1}}};
  EXPECT_EQ(store->add_profile("j", batch).error().code, Code::kFull);
  server.ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(store->add_profile("j", batch));
  EXPECT_EQ(sum(*store, "f"), 1);
}

TEST_F(RedisStoreTest, AReplicaIsUnavailable) {
  const RedisServer server(folder_of("replica"));
  const auto store = opened(server.url());
  ASSERT_TRUE(store->create({"j", "", 0}));
  server.ask({"REPLICAOF", "127.0.0.1", std::to_string(testing::free_port())});
  EXPECT_EQ(store->add_profile("j", {{"c", 1}, {{"f", "a", "e", 1}}}).error().code,
            Code::kUnavailable);
}

TEST_F(RedisStoreTest, ABatchInPartsIsWhole) {
  const RedisServer server(folder_of("parts"));
  const auto store = open_redis_store(server.target(), {.words_in_part = 20});
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->create({"j", "", 0}));
  ProfileBatch batch{{"c", 1}, {}};
  for (int node = 0; node < 100; ++node)
    batch.rows.push_back({"n" + std::to_string(node), "a", "e", node});
  ASSERT_TRUE((*store)->add_profile("j", batch));
  ASSERT_TRUE((*store)->add_profile("j", batch));
  EXPECT_EQ(sum(**store, "n99"), 99);
  batch.id.seq = 2;
  batch.rows[50].count = INT64_MAX;
  EXPECT_EQ((*store)->add_profile("j", batch).error().code, Code::kInvalid);
  EXPECT_EQ(sum(**store, "n0") + sum(**store, "n99"), 99);
  batch.rows[50].count = 1;
  ASSERT_TRUE((*store)->add_profile("j", batch));
  EXPECT_EQ(sum(**store, "n50"), 51);
  EXPECT_EQ((*store)->add_profile("nobody", batch).error().code, Code::kNotFound);
  EXPECT_EQ(server.ask({"EXISTS", "fathom:{j}:verdict"}).number, 0);
}

// A job that is listed and not there is nobody's; whoever died before it was listed can go on.
TEST_F(RedisStoreTest, TheListOfJobsMends) {
  const RedisServer server(folder_of("list"));
  const auto store = opened(server.url());
  ASSERT_TRUE(store->create({"j", "", 0}));
  server.ask({"HSET", "fathom:jobs", "ghost", "token"});
  EXPECT_EQ(store->jobs()->size(), 1);
  EXPECT_EQ(server.ask({"HEXISTS", "fathom:jobs", "ghost"}).number, 0);
  server.ask({"HDEL", "fathom:jobs", "j"});
  EXPECT_EQ(store->create({"j", "", 0}).error().code, Code::kExists);
  EXPECT_EQ(store->jobs()->size(), 1);
}

TEST_F(RedisStoreTest, AnotherProgramsKeys) {
  const RedisServer server(folder_of("foreign"));
  const auto store = opened(server.url());
  server.ask({"SET", "fathom:{j}:job", "mine"});
  EXPECT_EQ(store->job("j").error().code, Code::kCorrupt);
}

TEST_F(RedisStoreTest, JobsOfAClusterAreSpread) {
  RedisCluster cluster(folder_of("spread"));
  const auto store = opened(cluster.node(0).url());
  for (int job = 0; job < 12; ++job) {
    const std::string name = "job-" + std::to_string(job);
    ASSERT_TRUE(store->create({name, "", 0}));
    ASSERT_TRUE(
        store->add_profile(name, {{"c", 1}, {{"f{x}", "a", "e", job}, {"g", "a", "e", 1}}}));
  }
  EXPECT_EQ(store->jobs()->size(), 12);
  int used = 0;
  for (const auto& node : cluster.nodes()) used += node->ask({"DBSIZE"}).number > 0 ? 1 : 0;
  EXPECT_GE(used, 2);
  // A slot moves to another node while batches come: MOVED and ASK.
  const std::string slot = std::to_string(redis_slot("fathom:{job-1}:job"));
  std::size_t owner = 0;
  for (std::size_t at = 0; at < 3; ++at)
    if (cluster.node(at).ask({"EXISTS", "fathom:{job-1}:job"}).number == 1) owner = at;
  RedisServer& from = cluster.node(owner);
  RedisServer& to = cluster.node((owner + 1) % 3);
  const std::string from_id = from.ask({"CLUSTER", "MYID"}).text;
  const std::string to_id = to.ask({"CLUSTER", "MYID"}).text;
  to.ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", from_id});
  from.ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", to_id});
  const std::string port = std::to_string(to.port());
  for (const RespValue& key : from.ask({"CLUSTER", "GETKEYSINSLOT", slot, "1000"}).items)
    EXPECT_EQ(from.ask({"MIGRATE", "127.0.0.1", port, key.text, "0", "5000"}).text, "OK");
  // One key is found by ASK. A batch has keys that are not there yet: Redis wants us to wait.
  EXPECT_TRUE(store->job("job-1"));
  const Status waits = store->add_profile("job-1", {{"c", 2}, {{"g", "a", "e", 5}}});
  ASSERT_FALSE(waits);
  EXPECT_EQ(waits.error().code, Code::kUnavailable);
  for (RedisServer* node : {&to, &from}) node->ask({"CLUSTER", "SETSLOT", slot, "NODE", to_id});
  EXPECT_TRUE(store->add_profile("job-1", {{"c", 3}, {{"g", "a", "e", 7}}})) << "MOVED";
  EXPECT_TRUE(store->add_profile("job-1", {{"c", 2}, {{"g", "a", "e", 5}}}));
  std::int64_t sum = 0;
  ASSERT_TRUE(store->profile("job-1", [&](const ProfileRow& row) {
    sum += row.count;
    return true;
  }));
  EXPECT_EQ(sum, 1 + 1 + 5 + 7);
}

// Redis dies at any moment while clients send until they hear a yes.
TEST_F(RedisStoreTest, KilledRedis) {
  RedisServer server(folder_of("killed"));
  const auto store = opened(server.url());
  ASSERT_TRUE(store->create({"j", "", 0}));
  constexpr std::int64_t kClients = 3;
  const int kills = testing::rounds(5);
  const std::int64_t batches = 30 * std::int64_t{kills};
  std::atomic<std::int64_t> acknowledged = 0;
  std::vector<std::thread> clients;
  for (int number = 0; number < kClients; ++number) {
    clients.emplace_back([&, number] {
      for (std::int64_t seq = 0; seq < batches; ++seq) {
        const ProfileBatch batch{{"client " + std::to_string(number), seq},
                                 {{"left", "a", "e", 1}, {"right", "b", "e", 1}}};
        for (Status added = store->add_profile("j", batch); !added;
             added = store->add_profile("j", batch)) {
          EXPECT_EQ(added.error().code, Code::kUnavailable) << added.error().message;
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        ++acknowledged;
      }
    });
  }
  Dice dice(5);
  for (int round = 1; round <= kills; ++round) {
    while (acknowledged < round * kClients * batches / (kills + 2))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(dice.below(5000)));
    server.kill();
    const std::int64_t before = acknowledged;
    server.start();
    const auto again = opened(server.url());
    EXPECT_GE(sum(*again, "left"), before);
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(sum(*store, "left"), kClients * batches);
  EXPECT_EQ(sum(*store, "right"), kClients * batches);
}

TEST_F(RedisStoreTest, KilledWriters) {
  const RedisServer server(folder_of("writers"));
  ASSERT_TRUE(opened(server.url())->create({"j", "", 0}));
  Dice dice(9);
  for (int round = 0; round < testing::rounds(6); ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = open_store(server.url());
      if (!store) ::_exit(1);
      for (std::int64_t seq = 0;; ++seq)
        (void)(*store)->add_profile("j", {{"round " + std::to_string(round), seq},
                                          {{"left", "a", "e", 1}, {"right", "b", "e", 1}}});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + dice.below(30)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto store = opened(server.url());
    std::int64_t batches = 0;
    ASSERT_TRUE(store->sent("j", [&](const SentRange& range) {
      batches += range.last - range.first + 1;
      return true;
    }));
    EXPECT_EQ(sum(*store, "left"), batches);
    EXPECT_EQ(sum(*store, "right"), batches);
  }
}

TEST(RedisErrors, BecomeCodes) {
  const std::pair<const char*, Code> cases[] = {
      {"OOM command not allowed when used memory > 'maxmemory'.", Code::kFull},
      {"READONLY You can't write against a read only replica.", Code::kUnavailable},
      {"LOADING Redis is loading the dataset in memory", Code::kUnavailable},
      {"MISCONF Redis is configured to save RDB snapshots", Code::kUnavailable},
      {"MISCONF Errors writing to the AOF file: No space left on device", Code::kFull},
      {"CLUSTERDOWN Hash slot not served", Code::kUnavailable},
      {"NOAUTH Authentication required.", Code::kDenied},
      {"WRONGPASS invalid username-password pair", Code::kDenied},
      {"NOPERM this user has no permissions", Code::kDenied},
      {"WRONGTYPE Operation against a key", Code::kCorrupt},
      {"ERR something new", Code::kIo},
  };
  for (const auto& [text, code] : cases) EXPECT_EQ(redis_error(text).code, code) << text;
}

TEST(RedisSlot, IsRedis) {
  EXPECT_EQ(redis_slot("123456789"), 0x31c3);
  EXPECT_EQ(redis_slot("fathom:{a}:x"), redis_slot("a"));
  EXPECT_EQ(redis_slot("fathom:{a}:{b}"), redis_slot("a"));
  EXPECT_NE(redis_slot("{}a"), redis_slot("a"));
}

TEST(RedisTarget, Urls) {
  const Result<RedisTarget> full = parse_redis_url("redis://me%40x:p%3A%2Fw@[::1]:7000/5");
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ(full->user, "me@x");
  EXPECT_EQ(full->password, "p:/w");
  EXPECT_EQ(shown(full->address), "[::1]:7000");
  EXPECT_EQ(full->database, 5);
  EXPECT_EQ(parse_redis_url("redis://h")->address.port, 6379);
  EXPECT_TRUE(parse_redis_url("rediss://h/")->is_tls);
  EXPECT_EQ(parse_redis_url("redis+unix:/run/redis.sock?db=2")->database, 2);
  EXPECT_EQ(parse_redis_url("redis+unix:///run/redis.sock")->address.socket, "/run/redis.sock");
  for (const char* url :
       {"redis://", "redis://h:0", "redis://h:x", "redis://h:70000", "redis://h/x", "redis://[::1",
        "redis://[::1]x", "redis+unix:", "redis://u%zz@h", "http://h"})
    EXPECT_EQ(parse_redis_url(url).error().code, Code::kInvalid) << url;
}

}  // namespace
}  // namespace fathom::fleet
