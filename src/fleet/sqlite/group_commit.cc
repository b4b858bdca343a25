// SPDX-License-Identifier: MIT
// The first thread that finds no leader leads: it takes all that wait, runs them in one transaction
// and wakes them. A group that fails is tried again one by one, so that a batch which does not fit
// harms nobody else.
#include "fleet/sqlite/group_commit.h"

#include <algorithm>

namespace fathom::fleet {
namespace {

constexpr std::size_t kLargestGroup = 256;

bool has_changed_nothing(const Status& status) {
  return status || status.error().code == Code::kNotFound || status.error().code == Code::kExists;
}

}  // namespace

Status GroupCommit::run(const Change& change) {
  Waiting mine{&change, {}};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&mine);
  while (!mine.is_done) {
    if (has_leader_) {
      changed_.wait(lock);
    } else {
      lead(lock);
    }
  }
  return std::move(mine.status);
}

void GroupCommit::lead(std::unique_lock<std::mutex>& lock) {
  has_leader_ = true;
  const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kLargestGroup));
  const std::vector<Waiting*> group(waiting_.begin(), waiting_.begin() + count);
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  lock.unlock();
  if (!run_together(group))
    for (Waiting* one : group) run_alone(*one);
  lock.lock();
  for (Waiting* one : group) one->is_done = true;
  has_leader_ = false;
  changed_.notify_all();
}

bool GroupCommit::run_together(const std::vector<Waiting*>& group) {
  if (group.size() == 1) return false;
  if (!transaction_->begin()) return false;
  for (Waiting* one : group) {
    one->status = (*one->change)();
    if (has_changed_nothing(one->status)) continue;
    transaction_->rollback();
    return false;
  }
  if (transaction_->commit()) return true;
  transaction_->rollback();
  return false;
}

void GroupCommit::run_alone(Waiting& one) {
  one.status = transaction_->begin();
  if (!one.status) return;
  one.status = (*one.change)();
  if (one.status) one.status = transaction_->commit();
  if (!one.status) transaction_->rollback();
}

}  // namespace fathom::fleet
