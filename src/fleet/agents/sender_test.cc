// SPDX-License-Identifier: MIT
#include "fleet/agents/sender.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/ids.h"
#include "fleet/stores/open_store.h"

namespace fathom::fleet {
namespace {

// A store that can be away, and one that dies after it has stored something.
class Moody final : public JobStore {
 public:
  Moody(JobStore& store, const Code& mood, const bool& forgets)
      : store_(store), mood_(mood), forgets_(forgets) {}
  Result<std::vector<Job>> jobs() override { return store_.jobs(); }
  Result<Job> job(const std::string& name) override { return store_.job(name); }
  Status create(const Job& job) override { return store_.create(job); }
  Status remove(const std::string& job) override { return store_.remove(job); }
  Status add_profile(const std::string& job, const ProfileBatch& batch) override {
    return answer([&] { return store_.add_profile(job, batch); });
  }
  Status add_records(const std::string& job, const std::string& kind,
                     const RecordBatch& batch) override {
    return answer([&] { return store_.add_records(job, kind, batch); });
  }
  Status profile(const std::string& job, const TakesRow& take) override {
    return store_.profile(job, take);
  }
  Status records(const std::string& job, const std::string& kind, std::int64_t from,
                 const TakesRecord& take) override {
    return store_.records(job, kind, from, take);
  }
  Status clear_profile(const std::string& job) override { return store_.clear_profile(job); }
  Status clear_records(const std::string& job, const std::string& kind) override {
    return store_.clear_records(job, kind);
  }
  Result<std::vector<RecordKind>> kinds() override { return store_.kinds(); }
  Status add_kind(const RecordKind& kind) override { return store_.add_kind(kind); }

 private:
  template <class Do>
  Status answer(Do act) {
    if (forgets_) (void)act().has_value();  // stored, and nobody hears of it
    if (mood_ != Code::kUsage) return Error{mood_, "in a mood", ""};
    return act();
  }
  JobStore& store_;
  const Code& mood_;
  const bool& forgets_;
};

class Senders : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_dirs(folder_));
    store_ = open_store("sqlite:" + folder_ + "/jobs.db").value();
    for (const char* const name : {"j", "other"}) ASSERT_TRUE(store_->create({name, "", 0}));
  }
  void TearDown() override { (void)remove_tree(folder_); }
  Sender opened(const std::vector<std::string>& labels = {"here"}) {
    return std::move(
               Sender::open(std::make_unique<Moody>(*store_, mood_, forgets_), labels, folder_))
        .value();
  }
  std::int64_t sum(const std::string& job = "j") {
    std::int64_t sum = 0;
    EXPECT_TRUE(store_->profile(job, [&](const ProfileRow& row) {
      sum += row.count;
      return true;
    }));
    return sum;
  }
  std::size_t files() { return list_dir(folder_ + "/outbox").value().size(); }

  std::string folder_ = ::testing::TempDir() + "/sender-" + random_id();
  std::unique_ptr<JobStore> store_;
  Code mood_ = Code::kUsage;  // a good one
  bool forgets_ = false;
};

TEST_F(Senders, DeliversAndLeavesNothingBehind) {
  Sender sender = opened();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(sender.add("j", {"f", "a", "e", 1}));
  ASSERT_TRUE(sender.flush("j"));
  ASSERT_TRUE(sender.send_waiting());
  EXPECT_EQ(10, sum());
  EXPECT_EQ(1, sender.outcome().delivered);
  EXPECT_EQ(0U, files());
}

TEST_F(Senders, WhatWaitsIsSentByTheNextOnce) {
  mood_ = Code::kUnavailable;
  {
    Sender sender = opened();
    ASSERT_TRUE(sender.add("j", {"f", "a", "e", 5}));
    ASSERT_TRUE(sender.flush("j"));
    ASSERT_TRUE(sender.add_record("j", "benchmark", R"({"command": [], "runs": []})"));
    ASSERT_TRUE(sender.send_waiting());
    EXPECT_EQ(2, sender.outcome().waiting);
    ASSERT_TRUE(sender.outcome().away);
  }
  EXPECT_EQ(0, sum());
  mood_ = Code::kUsage;
  for (int again = 0; again < 2; ++again) {
    Sender sender = opened();
    ASSERT_TRUE(sender.send_waiting());
    EXPECT_EQ(again == 0 ? 2 : 0, sender.outcome().delivered);
  }
  EXPECT_EQ(5, sum());
  EXPECT_EQ(1, store_->job("j").value().benchmarks);
  EXPECT_EQ(0U, files());
}

TEST_F(Senders, ABatchWhoseAnswerWasLostCountsOnce) {
  mood_ = Code::kUnavailable;
  forgets_ = true;
  {
    Sender sender = opened();
    ASSERT_TRUE(sender.add("j", {"f", "a", "e", 5}));
    ASSERT_TRUE(sender.flush("j"));
  }
  EXPECT_EQ(5, sum());
  mood_ = Code::kUsage;
  ASSERT_TRUE(opened().send_waiting());
  EXPECT_EQ(5, sum());
  EXPECT_EQ(0U, files());
}

TEST_F(Senders, AJobThatWentDoesNotHoldUpTheOthers) {
  mood_ = Code::kUnavailable;
  {
    Sender sender = opened();
    for (const char* const job : {"j", "other"}) {
      ASSERT_TRUE(sender.add(job, {"f", "a", "e", 5}));
      ASSERT_TRUE(sender.flush(job));
    }
  }
  mood_ = Code::kUsage;
  ASSERT_TRUE(store_->remove("j"));
  Sender sender = opened();
  ASSERT_TRUE(sender.send_waiting());
  EXPECT_EQ(5, sum("other"));
  ASSERT_EQ(1U, sender.outcome().refused.size());
  EXPECT_NE(std::string::npos, sender.outcome().refused[0].find("job j "));
  EXPECT_EQ(1U, files()) << "it is kept, aside";
  Sender next = opened();
  ASSERT_TRUE(next.send_waiting());
  EXPECT_TRUE(next.outcome().refused.empty());
}

TEST_F(Senders, WhatIsForAnotherStoreWaitsForIt) {
  mood_ = Code::kUnavailable;
  {
    Sender sender = opened({"there"});
    ASSERT_TRUE(sender.add("j", {"f", "a", "e", 5}));
    ASSERT_TRUE(sender.flush("j"));
  }
  mood_ = Code::kUsage;
  Sender sender = opened({"here"});
  ASSERT_TRUE(sender.send_waiting());
  EXPECT_EQ(0, sum());
  EXPECT_EQ(1, sender.outcome().elsewhere);
  EXPECT_EQ("there", sender.outcome().other);
  ASSERT_TRUE(opened({"here", "there"}).send_waiting());
  EXPECT_EQ(5, sum());
}

TEST_F(Senders, WithoutAnOutboxTheErrorIsTheCallers) {
  mood_ = Code::kUnavailable;
  Sender sender =
      std::move(Sender::open(std::make_unique<Moody>(*store_, mood_, forgets_), {"here"}, ""))
          .value();
  ASSERT_TRUE(sender.add("j", {"f", "a", "e", 5}));
  const Status sent = sender.flush("j");
  ASSERT_FALSE(sent);
  EXPECT_EQ(Code::kUnavailable, sent.error().code);
  mood_ = Code::kUsage;
  ASSERT_TRUE(sender.add("j", {"f", "a", "e", 6}));
  ASSERT_TRUE(sender.flush("j"));
  EXPECT_EQ(6, sum());
}

}  // namespace
}  // namespace fathom::fleet
