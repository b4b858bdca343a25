// SPDX-License-Identifier: MIT
// What every store promises (store.h): the same tests on SQLite, on a Redis, and on a cluster.
#include "fleet/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/dice.h"
#include "base/files.h"
#include "fleet/redis/redis_nodes.h"
#include "fleet/redis/redis_store.h"
#include "fleet/stores/open_store.h"
#include "fleet/testing/redis_server.h"

namespace fathom::fleet {
namespace {

using std::string_literals::operator""s;  // NOLINT(misc-unused-using-decls : a suffix)
using Sums = std::map<std::tuple<std::string, std::string, std::string>, std::int64_t>;

std::string folder_of(const std::string& name) {
  return ::testing::TempDir() + "/" + name + std::to_string(::getpid());
}

// One for all tests of this program.
testing::RedisServer& redis() {
  static testing::RedisServer server(folder_of("redis"));
  return server;
}
testing::RedisCluster& cluster() {
  static testing::RedisCluster servers(folder_of("cluster"));
  return servers;
}

class Stores : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() != "sqlite"s && !testing::has_redis_server())
      GTEST_SKIP() << "no redis-server here (apt install redis-server)";
    address_ = "sqlite:" + folder_ + "/jobs.db";
    (void)make_dirs(folder_);
    if (GetParam() == "redis"s) {
      redis().ask({"FLUSHALL"});
      address_ = redis().url();
    }
    if (GetParam() == "cluster"s) {
      for (const auto& node : cluster().nodes()) node->ask({"FLUSHALL"});
      address_ = cluster().node(0).url();
    }
    store_ = opened();
  }
  void TearDown() override { (void)remove_tree(folder_); }

  std::unique_ptr<JobStore> opened() {
    Result<std::unique_ptr<JobStore>> store = open_store(address_);
    EXPECT_TRUE(store) << (store ? "" : store.error().message);
    return store ? std::move(*store) : nullptr;
  }
  JobStore& store() { return *store_; }
  void reopen() { store_ = opened(); }

  Status create(const std::string& name) { return store().create({name, "", 0}); }
  Status add(const std::string& job, std::int64_t seq, std::vector<ProfileRow> rows,
             const std::string& client = "north") {
    return store().add_profile(job, {{client, seq}, std::move(rows)});
  }
  Status add_records(const std::string& job, std::int64_t seq, std::vector<std::string> records,
                     const std::string& kind = "benchmark") {
    return store().add_records(job, kind, {{"north", seq}, std::move(records)});
  }
  std::vector<ProfileRow> rows(const std::string& job) {
    std::vector<ProfileRow> all;
    EXPECT_TRUE(store().profile(job, [&](const ProfileRow& row) {
      all.push_back(row);
      return true;
    }));
    return all;
  }
  Sums sums(const std::string& job) {
    Sums all;
    for (const ProfileRow& row : rows(job)) all[{row.node, row.exec, row.event}] = row.count;
    return all;
  }
  std::vector<std::string> records(const std::string& job, const std::string& kind = "benchmark",
                                   std::int64_t from = 0) {
    std::vector<std::string> all;
    EXPECT_TRUE(store().records(job, kind, from, [&](std::int64_t index, const std::string& json) {
      EXPECT_EQ(index, from + static_cast<std::int64_t>(all.size()));
      all.push_back(json);
      return true;
    }));
    return all;
  }
  std::vector<SentRange> sent(const std::string& job) {
    std::vector<SentRange> all;
    EXPECT_TRUE(store().sent(job, [&](const SentRange& range) {
      all.push_back(range);
      return true;
    }));
    return all;
  }

  std::string folder_ = folder_of("stores");
  std::string address_;
  std::unique_ptr<JobStore> store_;
};

#define EXPECT_CODE(wanted, expression)                                   \
  do {                                                                    \
    const auto outcome = (expression);                                    \
    ASSERT_FALSE(outcome) << "it was a success";                          \
    EXPECT_EQ(outcome.error().code, (wanted)) << outcome.error().message; \
  } while (false)

const ProfileRow kOne{"f", "a", "e", 1};

TEST_P(Stores, JobsAreMadeListedAndRemoved) {
  EXPECT_TRUE(store().jobs()->empty());
  ASSERT_TRUE(store().create({"2001", "first job, with spaces\n\0"s, 0}));
  ASSERT_TRUE(create("b"));
  ASSERT_TRUE(create("a"));
  EXPECT_CODE(Code::kExists, create("b"));
  EXPECT_CODE(Code::kInvalid, create("no/name"));
  EXPECT_CODE(Code::kNotFound, store().job("c"));
  EXPECT_CODE(Code::kNotFound, store().job("no/name"));
  EXPECT_EQ(store().job("2001")->info, "first job, with spaces\n\0"s);
  std::vector<std::string> names;
  const std::vector<Job> jobs = store().jobs().value();
  for (const Job& job : jobs) names.push_back(job.name);
  EXPECT_EQ(names, (std::vector<std::string>{"2001", "a", "b"}));
  ASSERT_TRUE(store().remove("b"));
  EXPECT_CODE(Code::kNotFound, store().remove("b"));
  EXPECT_CODE(Code::kNotFound, store().job("b"));
  EXPECT_EQ(store().jobs()->size(), 2);
}

TEST_P(Stores, CountsAddUp) {
  ASSERT_TRUE(create("sum"));
  ASSERT_TRUE(add("sum", 1,
                  {{"f", "a", "cache-misses", 10},
                   {"g", "a", "branch-misses", 1},
                   {"f", "b", "cache-misses", 3},
                   {"f", "a", "zero", 0}}));
  ASSERT_TRUE(add(
      "sum", 2, {{"f", "a", "cache-misses", 7}, {"f", "a", "cycles", 2}, {"f", "a", "cycles", 3}}));
  const std::vector<ProfileRow> wanted = {{"f", "a", "cache-misses", 17},
                                          {"f", "a", "cycles", 5},
                                          {"f", "a", "zero", 0},
                                          {"f", "b", "cache-misses", 3},
                                          {"g", "a", "branch-misses", 1}};
  EXPECT_EQ(rows("sum"), wanted);
  reopen();
  EXPECT_EQ(rows("sum"), wanted);
  ASSERT_TRUE(add("sum", 3, {{"g", "a", "branch-misses", 4}, {"h", "a", "e", 1}}));
  EXPECT_EQ(sums("sum")[std::tuple("g"s, "a"s, "branch-misses"s)], 5);
  EXPECT_EQ(rows("sum").size(), 6);
}

TEST_P(Stores, ABatchCountsOnce) {
  ASSERT_TRUE(create("again"));
  ASSERT_TRUE(create("other"));
  for (const std::int64_t seq : {3, 3, 7, 1, 3, 2, 0, 7, 5, 6, 4})
    ASSERT_TRUE(add("again", seq, {{"f", "a", "e", std::int64_t{1} << (4 * seq)}}));
  EXPECT_EQ(rows("again")[0].count, 0x11111111);
  EXPECT_EQ(sent("again"), (std::vector<SentRange>{{"", "north", 0, 7}}));
  ASSERT_TRUE(add("again", 3, {kOne}, "south"));
  ASSERT_TRUE(add("other", 3, {kOne}));
  EXPECT_EQ(rows("again")[0].count, 0x11111112);
  EXPECT_EQ(rows("other")[0].count, 1);
  reopen();
  for (const std::int64_t seq : {0, 3, 7}) ASSERT_TRUE(add("again", seq, {kOne}));
  EXPECT_EQ(rows("again")[0].count, 0x11111112);
  ASSERT_TRUE(add("again", INT64_MAX, {kOne}));
  ASSERT_TRUE(add("again", INT64_MAX, {kOne}));
  ASSERT_TRUE(add("again", INT64_MAX - 1, {kOne}));
  EXPECT_EQ(rows("again")[0].count, 0x11111114);
  EXPECT_EQ(sent("again"), (std::vector<SentRange>{{"", "north", 0, 7},
                                                   {"", "north", INT64_MAX - 1, INT64_MAX},
                                                   {"", "south", 3, 3}}));
}

TEST_P(Stores, NumbersOfProfilesAndRecordsAreApart) {
  ASSERT_TRUE(create("j"));
  ASSERT_TRUE(add("j", 1, {kOne}));
  ASSERT_TRUE(add_records("j", 1, {"{}"}));
  EXPECT_EQ(rows("j").size(), 1);
  EXPECT_EQ(records("j").size(), 1);
}

TEST_P(Stores, WholeOrNotAtAll) {
  ASSERT_TRUE(create("whole"));
  ASSERT_TRUE(add("whole", 1, {{"f", "a", "e", INT64_MAX - 5}}));
  EXPECT_CODE(Code::kInvalid, add("whole", 2, {{"new", "a", "e", 1}, {"f", "a", "e", 6}, kOne}));
  EXPECT_CODE(Code::kInvalid, add("whole", 2, {{"new", "a", "e", 1}, {"f", "a", "e", -1}}));
  EXPECT_CODE(Code::kInvalid, add("whole", 2, {{"new", "a", "execname", 1}}));
  EXPECT_CODE(Code::kInvalid, add("whole", 2, {{"n", "a", "e", INT64_MAX}, {"n", "a", "e", 1}}));
  EXPECT_CODE(Code::kInvalid, add("whole", -1, {kOne}));
  EXPECT_CODE(Code::kInvalid, add("whole", 1, {kOne}, ""));
  EXPECT_CODE(Code::kNotFound, add("nobody", 2, {kOne}));
  EXPECT_EQ(rows("whole"), (std::vector<ProfileRow>{{"f", "a", "e", INT64_MAX - 5}}));
  ASSERT_TRUE(add("whole", 2, {{"f", "a", "e", 5}, {"new", "a", "e", 7}}));
  EXPECT_EQ(rows("whole"),
            (std::vector<ProfileRow>{{"f", "a", "e", INT64_MAX}, {"new", "a", "e", 7}}));
}

TEST_P(Stores, LargeSumsAreExact) {
  ASSERT_TRUE(create("large"));
  const std::int64_t half = std::int64_t{1} << 53;
  const std::int64_t parts[] = {
      half, 1, half, 1, 999'999'999'999'999, 1, 8'000'000'000'000'000'000};
  std::int64_t seq = 0;
  std::int64_t total = 0;
  for (const std::int64_t part : parts) {
    ASSERT_TRUE(add("large", ++seq, {{"f", "a", "e", part}}));
    total += part;
    EXPECT_EQ(rows("large")[0].count, total);
  }
}

TEST_P(Stores, NamesAreKeptWholeAndApart) {
  ASSERT_TRUE(create("names"));
  const std::vector<std::string> names = {"",
                                          " two  spaces ",
                                          "größe::数える 🌊",
                                          "a\"b'c\\d`e$(f);--",
                                          "one\ntwo\ttab\r",
                                          "before\0after"s,
                                          "before"s,
                                          "before\0"s,
                                          "before\0\1x"s,
                                          "before\0\xff"s,
                                          "\xff\xfe"s,
                                          "{job}:*[a-z]?:%s:%2f",
                                          "../../etc/passwd",
                                          "execname",
                                          "007",
                                          "a:b",
                                          "a",
                                          "a%3Ab",
                                          "b:c"};
  Sums wanted;
  std::vector<ProfileRow> batch;
  for (std::size_t at = 0; at < names.size(); ++at) {
    for (const std::string& exec : {names[at], "plain"s, "x:" + names[at]}) {
      batch.push_back({names[at], exec, names[at] + ":u", static_cast<std::int64_t>(at) + 1});
      wanted[{names[at], exec, names[at] + ":u"}] = 2 * (static_cast<std::int64_t>(at) + 1);
    }
  }
  ASSERT_TRUE(add("names", 1, batch));
  reopen();
  ASSERT_TRUE(add("names", 2, batch));
  EXPECT_EQ(sums("names"), wanted);
  const std::vector<ProfileRow> all = rows("names");
  EXPECT_EQ(all.size(), wanted.size());
  EXPECT_TRUE(std::ranges::is_sorted(
      all, {}, [](const ProfileRow& row) { return std::tie(row.node, row.exec, row.event); }));
  ASSERT_TRUE(store().clear_profile("names"));
  EXPECT_TRUE(rows("names").empty());
}

TEST_P(Stores, LongNamesAreRowsOfTheirOwn) {
  ASSERT_TRUE(create("long"));
  const std::string name(1'000'000, 'n');
  for (const std::int64_t seq : {1, 2})
    ASSERT_TRUE(
        add("long", seq, {{name, "a", "e", 1}, {name + "n", "a", "e", 2}, {"n", name, name, 3}}));
  EXPECT_EQ(rows("long"),
            (std::vector<ProfileRow>{
                {"n", name, name, 6}, {name, "a", "e", 2}, {name + "n", "a", "e", 4}}));
}

TEST_P(Stores, ManyRowsAndPages) {
  ASSERT_TRUE(create("many"));
  std::vector<ProfileRow> batch;
  for (int at = 0; at < 3000; ++at)
    batch.push_back({"function " + std::to_string(at), "a", "e" + std::to_string(at % 7), at});
  for (int event = 0; event < 2500; ++event)
    batch.push_back({"wide", "a", "event " + std::to_string(event), event});
  for (const std::int64_t seq : {1, 2}) ASSERT_TRUE(add("many", seq, batch));
  Sums wanted;
  for (const ProfileRow& row : batch) wanted[{row.node, row.exec, row.event}] = 2 * row.count;
  EXPECT_EQ(sums("many"), wanted);
  int taken = 0;
  ASSERT_TRUE(store().profile("many", [&](const ProfileRow&) { return ++taken < 600; }));
  EXPECT_EQ(taken, 600);
}

TEST_P(Stores, RecordsAreKeptAsTheyCame) {
  ASSERT_TRUE(create("bench"));
  std::vector<std::string> wanted;
  for (int at = 0; at < 700; ++at) wanted.push_back("{\"run\": " + std::to_string(at) + " }");
  ASSERT_TRUE(add_records("bench", 1, {wanted.begin(), wanted.begin() + 300}));
  ASSERT_TRUE(add_records("bench", 1, {wanted.begin(), wanted.begin() + 300}));
  ASSERT_TRUE(add_records("bench", 2, {wanted.begin() + 300, wanted.end()}));
  EXPECT_EQ(records("bench"), wanted);
  EXPECT_EQ(records("bench", "benchmark", 690),
            (std::vector<std::string>{wanted.begin() + 690, wanted.end()}));
  EXPECT_TRUE(records("bench", "benchmark", 1000).empty());
  EXPECT_EQ(store().job("bench")->benchmarks, 700);
  EXPECT_EQ(store().jobs()->front().benchmarks, 700);
  ASSERT_TRUE(store().clear_records("bench", "benchmark"));
  EXPECT_EQ(store().job("bench")->benchmarks, 0);
  ASSERT_TRUE(add_records("bench", 2, {"{}"}));  // was sent before
  ASSERT_TRUE(add_records("bench", 3, {"{\"new\": 1}"}));
  EXPECT_EQ(records("bench"), std::vector<std::string>{"{\"new\": 1}"});
  EXPECT_CODE(Code::kNotFound, add_records("nobody", 1, {"{}"}));
}

TEST_P(Stores, KindsOfRecords) {
  ASSERT_TRUE(create("j"));
  EXPECT_CODE(Code::kNotFound, add_records("j", 1, {"{}"}, "heap"));
  EXPECT_CODE(Code::kInvalid, store().add_kind({"no/name", "{}"}));
  EXPECT_CODE(Code::kInvalid, store().add_kind({"benchmark", "{}"}));
  ASSERT_TRUE(store().add_kind({"heap", "{\"type\": \"object\"}"}));
  ASSERT_TRUE(store().add_kind({"heap", "{\"type\": \"object\"}"}));
  EXPECT_CODE(Code::kExists, store().add_kind({"heap", "{}"}));
  ASSERT_EQ(store().kinds()->size(), 1);
  EXPECT_EQ(store().kinds()->front().schema, "{\"type\": \"object\"}");
  std::vector<std::string> wanted;
  for (int at = 0; at < 1100; ++at) wanted.push_back("{\"n\": " + std::to_string(at) + "}");
  ASSERT_TRUE(add_records("j", 1, wanted, "heap"));
  ASSERT_TRUE(add_records("j", 1, wanted, "heap"));
  EXPECT_EQ(records("j", "heap"), wanted);
  EXPECT_EQ(store().job("j")->benchmarks, 0);
  ASSERT_TRUE(store().clear_records("j", "heap"));
  EXPECT_TRUE(records("j", "heap").empty());
}

TEST_P(Stores, ARemovedJobLeavesNothing) {
  ASSERT_TRUE(create("j"));
  ASSERT_TRUE(store().add_kind({"heap", "{}"}));
  ASSERT_TRUE(add("j", 1, {kOne, {"g\0h"s, "x:y%", "e", 1}}));
  ASSERT_TRUE(add_records("j", 1, {"{}"}));
  ASSERT_TRUE(add_records("j", 1, {"{}"}, "heap"));
  ASSERT_TRUE(store().remove("j"));
  ASSERT_TRUE(create("j"));
  EXPECT_TRUE(rows("j").empty());
  EXPECT_TRUE(records("j").empty());
  EXPECT_TRUE(records("j", "heap").empty());
  EXPECT_TRUE(sent("j").empty());
  ASSERT_TRUE(add("j", 1, {kOne}));
  EXPECT_EQ(rows("j").size(), 1);
  ASSERT_TRUE(store().remove("j"));
  if (GetParam() == "redis"s) {
    EXPECT_EQ(redis().ask({"KEYS", "*"}).items.size(), 1) << "only fathom:kinds";
  }
}

TEST_P(Stores, ClearingForgetsSumsAndNotNumbers) {
  ASSERT_TRUE(create("j"));
  ASSERT_TRUE(add("j", 1, {kOne}));
  ASSERT_TRUE(store().clear_profile("j"));
  EXPECT_TRUE(rows("j").empty());
  ASSERT_TRUE(add("j", 1, {kOne}));
  EXPECT_TRUE(rows("j").empty());
  ASSERT_TRUE(add("j", 2, {{"g", "a", "e", 2}}));
  EXPECT_EQ(rows("j"), (std::vector<ProfileRow>{{"g", "a", "e", 2}}));
  EXPECT_CODE(Code::kNotFound, store().clear_profile("nobody"));
}

TEST_P(Stores, WhatWasSentCanBeSet) {
  ASSERT_TRUE(create("j"));
  ASSERT_TRUE(add("j", 9, {kOne}));
  const std::vector<SentRange> ranges = {
      {"", "a:b", 0, 4}, {"", "a:b", 6, INT64_MAX}, {"benchmark", "c", 2, 2}};
  ASSERT_TRUE(store().set_sent("j", ranges));
  EXPECT_EQ(sent("j"), ranges);
  ASSERT_TRUE(add("j", 3, {kOne}, "a:b"));
  ASSERT_TRUE(add("j", 5, {kOne}, "a:b"));
  EXPECT_EQ(rows("j")[0].count, 2);
  EXPECT_EQ(sent("j")[0], (SentRange{"", "a:b", 0, INT64_MAX}));
}

// Eight threads and two stores on the same place: like servers that share a Redis.
TEST_P(Stores, ManyAtOnce) {
  constexpr int kThreads = 8;
  constexpr std::int64_t kBatches = 40;
  ASSERT_TRUE(create("shared"));
  const std::unique_ptr<JobStore> other = opened();
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      JobStore& mine = number % 2 == 0 ? store() : *other;
      JobStore& second = number % 2 == 0 ? *other : store();
      const std::string client = "client " + std::to_string(number);
      for (std::int64_t seq = 1; seq <= kBatches; ++seq) {
        const ProfileBatch batch{{client, seq}, {{"all", "a", "e", 1}, {client, "a", "e", seq}}};
        EXPECT_TRUE(mine.add_profile("shared", batch));
        if (seq % 4 == 0) {
          EXPECT_TRUE(second.add_profile("shared", batch));
        }
        EXPECT_TRUE(mine.add_records("shared", "benchmark", {{client, seq}, {"{}"}}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Sums all = sums("shared");
  EXPECT_EQ(all.at({"all", "a", "e"}), kThreads * kBatches);
  for (int number = 0; number < kThreads; ++number)
    EXPECT_EQ(all.at({"client " + std::to_string(number), "a", "e"}),
              kBatches * (kBatches + 1) / 2);
  EXPECT_EQ(records("shared").size(), static_cast<std::size_t>(kThreads * kBatches));
}

// The same batch at the same moment.
TEST_P(Stores, ARaceCountsOnce) {
  ASSERT_TRUE(create("race"));
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number)
    threads.emplace_back([&] { EXPECT_TRUE(add("race", 1, {{"f", "a", "e", 5}})); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rows("race"), (std::vector<ProfileRow>{{"f", "a", "e", 5}}));
}

// A random history against a plain map.
TEST_P(Stores, AnyHistory) {
  Dice dice(7);
  ASSERT_TRUE(create("h"));
  Sums wanted;
  std::vector<ProfileBatch> sent_before;
  for (std::int64_t seq = 0; seq < 120; ++seq) {
    if (!sent_before.empty() && dice.below(3) == 0) {
      ASSERT_TRUE(store().add_profile("h", sent_before[dice.below(sent_before.size())]));
      continue;
    }
    ProfileBatch batch{{"c" + std::to_string(dice.below(3)), static_cast<std::int64_t>(seq)}, {}};
    for (std::size_t count = dice.below(90); count > 0; --count) {
      batch.rows.push_back(
          {"n" + std::to_string(dice.below(60)), "x" + std::to_string(dice.below(3)),
           "e" + std::to_string(dice.below(4)), static_cast<std::int64_t>(dice.below(1'000'000))});
      const ProfileRow& row = batch.rows.back();
      wanted[{row.node, row.exec, row.event}] += row.count;
    }
    ASSERT_TRUE(store().add_profile("h", batch));
    sent_before.push_back(std::move(batch));
    if (dice.below(20) == 0) reopen();
  }
  EXPECT_EQ(sums("h"), wanted);
}

INSTANTIATE_TEST_SUITE_P(On, Stores, ::testing::Values("sqlite", "redis", "cluster"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace fathom::fleet
