// SPDX-License-Identifier: MIT
// Brings batches to a store, each of them once: kept in the outbox first, then handed over, then
// taken out of the outbox. What cannot be delivered now waits there for the next agent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/agents/letter.h"
#include "fleet/agents/outbox.h"
#include "fleet/profile_sums.h"
#include "fleet/store.h"

namespace fathom::fleet {

// What became of all that was sent.
struct Delivery {
  std::int64_t delivered = 0;        // batches
  std::int64_t waiting = 0;          // in the outbox, for this store
  std::int64_t elsewhere = 0;        // in the outbox, for other stores
  std::string other;                 // one of these stores
  std::optional<Error> away;         // why they wait
  std::vector<std::string> refused;  // sentences: what was set aside, and why
  std::vector<std::string> damaged;  // files that were set aside
};

// One thread at a time.
class Sender {
 public:
  // `store`: none where it cannot be reached; `labels`: of its place
  // (find_store.h). `folder`: this user's state, in
  // which the outbox lies; "": nothing is kept, and what cannot be delivered is an Error at once.
  static Result<Sender> open(std::unique_ptr<JobStore> store, std::vector<std::string> labels,
                             const std::string& folder);

  // Rows are added up until they are many, or flush() is called.
  Status add(const std::string& job, const ProfileRow& row);
  Status flush(const std::string& job);
  Status add_record(const std::string& job, const std::string& kind, const std::string& record);

  // What waited from before, too. Call it last.
  Status send_waiting();

  [[nodiscard]] const Delivery& outcome() const { return delivery_; }

 private:
  Sender(std::unique_ptr<JobStore> store, std::vector<std::string> labels, std::string folder)
      : store_(std::move(store)), labels_(std::move(labels)), folder_(std::move(folder)) {}
  Result<BatchId> next_id();
  Status send(Letter letter);
  Status send_kept(const Letter& letter);
  Status hand_over(const Letter& letter);
  Status settle(const Outbox::Held& held, const Letter& letter);

  std::unique_ptr<JobStore> store_;
  std::vector<std::string> labels_;
  std::string folder_;
  std::optional<Outbox> outbox_;
  std::int64_t sent_ = 0;  // batches of this process
  ProfileSums sums_;
  Delivery delivery_;
  std::int64_t away_until_ns_ = 0;  // the store is not asked before
};

}  // namespace fathom::fleet
