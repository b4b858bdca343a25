// SPDX-License-Identifier: MIT
#include "fleet/stores/copy_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "base/files.h"
#include "fleet/stores/open_store.h"
#include "fleet/testing/redis_server.h"

namespace fathom::fleet {
namespace {

using std::string_literals::operator""s;  // NOLINT(misc-unused-using-decls : a suffix)

// All that a store can be asked for.
std::string told(JobStore& store) {
  std::string text;
  const std::vector<Job> jobs = store.jobs().value();
  const std::vector<RecordKind> kinds = store.kinds().value();
  for (const RecordKind& kind : kinds) text += "kind " + kind.name + " " + kind.schema + "\n";
  for (const Job& job : jobs) {
    text += "job " + job.name + " " + job.info + " " + std::to_string(job.benchmarks) + "\n";
    EXPECT_TRUE(store.profile(job.name, [&](const ProfileRow& row) {
      text += row.node + "|" + row.exec + "|" + row.event + "|" + std::to_string(row.count) + "\n";
      return true;
    }));
    const auto take = [&](std::int64_t index, const std::string& json) {
      text += std::to_string(index) + " " + json + "\n";
      return true;
    };
    EXPECT_TRUE(store.records(job.name, "benchmark", 0, take));
    for (const RecordKind& kind : kinds) EXPECT_TRUE(store.records(job.name, kind.name, 0, take));
    EXPECT_TRUE(store.sent(job.name, [&](const SentRange& range) {
      text += range.kind + ":" + range.client + " " + std::to_string(range.first) + "-" +
              std::to_string(range.last) + "\n";
      return true;
    }));
  }
  return text;
}

void fill(JobStore& store) {
  ASSERT_TRUE(store.add_kind({"heap", "{\"type\": \"object\"}"}));
  for (const char* job : {"2001", "empty", "nightly"})
    ASSERT_TRUE(store.create({job, "of "s + job, 0}));
  ProfileBatch many{{"a:b", 1}, {}};
  for (int node = 0; node < 25'000; ++node)
    many.rows.push_back({"n" + std::to_string(node), "x", "e", node});
  ASSERT_TRUE(store.add_profile("nightly", many));
  ASSERT_TRUE(store.add_profile("2001", {{"c", 7}, {{"z\0\xff:{}"s, "%:", "e\n", INT64_MAX}}}));
  ASSERT_TRUE(store.add_profile("2001", {{"c", 9}, {}}));
  ASSERT_TRUE(store.add_records("2001", "benchmark", {{"c", 7}, {"{\"a\": 1}", "{}"}}));
  ASSERT_TRUE(store.add_records("2001", "heap", {{"c", 8}, {"[1]"}}));
}

class CopyStore : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(make_dirs(folder_)); }
  void TearDown() override { (void)remove_tree(folder_); }
  std::unique_ptr<JobStore> file(const std::string& name) {
    return std::move(open_store("sqlite:" + folder_ + "/" + name).value());
  }
  std::string folder_ = ::testing::TempDir() + "/copy" + std::to_string(::getpid());
};

TEST_F(CopyStore, ToRedisAndBack) {
  if (!testing::has_redis_server())
    GTEST_SKIP() << "no redis-server here (apt install redis-server)";
  const testing::RedisServer server(folder_ + "-redis");
  const auto first = file("first");
  fill(*first);
  const auto middle = std::move(open_store(server.url()).value());
  const auto last = file("last");
  const Result<Copied> there = copy_store(*first, *middle);
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ(there->jobs, 3);
  EXPECT_EQ(there->rows, 25'001);
  EXPECT_EQ(there->records, 3);
  EXPECT_EQ(told(*middle), told(*first));
  ASSERT_TRUE(copy_store(*middle, *last));
  EXPECT_EQ(told(*last), told(*first));
  // What was sent before the move counts once after it.
  ASSERT_TRUE(last->add_profile("2001", {{"c", 7}, {{"f", "a", "e", 1}}}));
  EXPECT_EQ(told(*last), told(*first));
}

TEST_F(CopyStore, SomeJobsAndNamesThatAreTaken) {
  const auto first = file("first");
  fill(*first);
  const auto last = file("last");
  ASSERT_TRUE(copy_store(*first, *last, {.jobs = {"2001"}}));
  EXPECT_EQ(last->jobs()->size(), 1);
  EXPECT_EQ(copy_store(*first, *last).error().code, Code::kExists);
  EXPECT_EQ(last->jobs()->size(), 1);
  EXPECT_EQ(copy_store(*first, *last, {.jobs = {"nobody"}}).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace fathom::fleet
