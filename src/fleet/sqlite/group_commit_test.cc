// SPDX-License-Identifier: MIT
#include "fleet/sqlite/group_commit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace fathom::fleet {
namespace {

// Counts what is committed; slow to commit, so that others gather.
class Counting final : public Transaction {
 public:
  Status begin() override {
    pending = 0;
    return {};
  }
  Status commit() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (fails) return Error{Code::kFull, "full", ""};
    committed += pending;
    ++commits;
    return {};
  }
  void rollback() override { pending = 0; }

  int pending = 0;
  int committed = 0;
  int commits = 0;
  std::atomic<bool> fails = false;
};

TEST(GroupCommit, ManyShareATransaction) {
  Counting transaction;
  GroupCommit group(transaction);
  std::vector<std::thread> threads;
  for (int number = 0; number < 16; ++number)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 10; ++turn)
        EXPECT_TRUE(group.run([&] {
          ++transaction.pending;
          return Status();
        }));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(transaction.committed, 160);
  EXPECT_LT(transaction.commits, 160);
}

TEST(GroupCommit, OneThatFailsHarmsNobodyElse) {
  Counting transaction;
  GroupCommit group(transaction);
  std::vector<std::thread> threads;
  for (int number = 0; number < 12; ++number)
    threads.emplace_back([&, number] {
      const Status status = group.run([&, number]() -> Status {
        if (number % 3 == 1) return Error{Code::kNotFound, "no job", ""};
        ++transaction.pending;
        if (number % 3 == 0) return Error{Code::kInvalid, "too large", ""};
        return {};
      });
      EXPECT_EQ(status.has_value(), number % 3 == 2);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(transaction.committed, 4);
}

TEST(GroupCommit, NothingIsAcknowledgedThatIsNotCommitted) {
  Counting transaction;
  transaction.fails = true;
  GroupCommit group(transaction);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&] {
      const Status status = group.run([] { return Status(); });
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, Code::kFull);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(transaction.committed, 0);
}

}  // namespace
}  // namespace fathom::fleet
