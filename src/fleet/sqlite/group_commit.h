// SPDX-License-Identifier: MIT
// Changes of several threads in one transaction: while one waits for the disk, the next ones
// gather, and the disk is waited for once for all of them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "base/result.h"

namespace fathom::fleet {

// What a transaction is to GroupCommit. Called by one thread at a time.
class Transaction {
 public:
  virtual ~Transaction() = default;
  virtual Status begin() = 0;
  virtual Status commit() = 0;  // after an error, rollback() follows
  virtual void rollback() = 0;

 protected:
  Transaction() = default;
  Transaction(const Transaction&) = default;
  Transaction& operator=(const Transaction&) = default;
};

// The first thread that finds no leader becomes one: it begins the transaction, runs all changes
// that wait, commits, and wakes their threads. No thread of its own is needed, and a single writer
// pays nothing. A change that fails in a group costs the others one more attempt: the group is
// rolled back and each of them runs alone. Must outlive every call of run().
class GroupCommit {
 public:
  // kNotFound and kExists: it has changed nothing, and others go on. All other errors: what it did
  // must be rolled back.
  using Change = std::function<Status()>;

  explicit GroupCommit(Transaction& transaction) : transaction_(&transaction) {}

  // Returns when the change is committed, or is not and never will be. Any thread.
  Status run(const Change& change);

 private:
  struct Waiting {
    const Change* change;
    Status status;
    bool is_done = false;
  };

  void lead(std::unique_lock<std::mutex>& lock);
  bool run_together(const std::vector<Waiting*>& group);
  void run_alone(Waiting& one);

  Transaction* transaction_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting*> waiting_;
  bool has_leader_ = false;
};

}  // namespace fathom::fleet
