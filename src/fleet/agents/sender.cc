// SPDX-License-Identifier: MIT
// Puts each batch into the outbox before it is sent and removes it when the store has it. A server
// that is away is not asked again for a while; what waits is counted.
#include "fleet/agents/sender.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/host.h"
#include "base/text.h"
#include "fleet/client_numbers.h"

namespace fathom::fleet {
namespace {

// A batch stays far below what a server takes in one body.
constexpr std::size_t kMostRows = 50'000;
constexpr std::size_t kMostBytes = std::size_t{8} << 20;
// One that is busy is asked again soon, one that is away after a while.
constexpr useconds_t kPausesUs[] = {0, 50'000, 200'000};
constexpr std::int64_t kAwayNs = 5'000'000'000;

// Asking again later can help.
bool may_pass(const Error& error) {
  switch (error.code) {
    case Code::kUnavailable:
    case Code::kFull:
    case Code::kDenied:
    case Code::kIo:
      return true;
    case Code::kUsage:
    case Code::kInvalid:
    case Code::kNotFound:
    case Code::kCorrupt:
    case Code::kUnsupported:
    case Code::kExists:
      return false;
  }
  return false;
}

Error cannot_reach() { return {Code::kUnavailable, "the server cannot be reached", ""}; }

}  // namespace

Result<Sender> Sender::open(std::unique_ptr<JobStore> store, std::vector<std::string> labels,
                            const std::string& folder) {
  Sender sender(std::move(store), std::move(labels), folder);
  if (!folder.empty()) {
    FATHOM_ASSIGN(sender.outbox_, Outbox::open(join_path(folder, "outbox")));
  }
  return sender;
}

Status Sender::add(const std::string& job, const ProfileRow& row) {
  if (!sums_.add(row)) {  // too large for one row of a batch; the store decides about the sum
    FATHOM_TRY(flush(job));
    (void)sums_.add(row);
  }
  return sums_.rows() < kMostRows && sums_.bytes() < kMostBytes ? Status() : flush(job);
}

Status Sender::flush(const std::string& job) {
  if (sums_.empty()) return {};
  Letter letter;
  letter.job = job;
  letter.rows = sums_.take();
  return send(std::move(letter));
}

Status Sender::add_record(const std::string& job, const std::string& kind,
                          const std::string& record) {
  Letter letter;
  letter.job = job;
  letter.kind = kind;
  letter.records = {record};
  return send(std::move(letter));
}

Result<BatchId> Sender::next_id() {
  if (std::optional<BatchId> id = batch_of_work(++sent_)) return *std::move(id);
  if (outbox_) return next_batch(folder_, this_host().hostname);
  return batch_of_stranger();
}

Status Sender::send(Letter letter) {
  letter.place = labels_.front();
  FATHOM_ASSIGN(letter.id, next_id());
  if (outbox_) return send_kept(letter);
  FATHOM_TRY(hand_over(letter));
  ++delivery_.delivered;
  return {};
}

Status Sender::send_kept(const Letter& letter) {
  FATHOM_ASSIGN(const Outbox::Held held, outbox_->put(letter));
  return settle(held, letter);
}

// The same batch counts once, so that it can be tried again whatever became of the first try.
Status Sender::hand_over(const Letter& letter) {
  if (!store_) return cannot_reach();
  Status done;
  for (const useconds_t pause : kPausesUs) {
    ::usleep(pause);
    done = deliver(*store_, letter);
    if (done || done.error().code != Code::kUnavailable) break;
  }
  return done;
}

Status Sender::settle(const Outbox::Held& held, const Letter& letter) {
  const bool ask = now_monotonic_ns() >= away_until_ns_;
  const Status done = ask ? hand_over(letter) : Status(delivery_.away.value_or(cannot_reach()));
  if (done) {
    outbox_->remove(held);
    ++delivery_.delivered;
    return {};
  }
  if (may_pass(done.error())) {
    ++delivery_.waiting;
    delivery_.away = done.error();
    if (ask) away_until_ns_ = now_monotonic_ns() + kAwayNs;
    return {};
  }
  delivery_.refused.push_back("a batch for job " + escape_control(letter.job) +
                              " was refused and is kept in " + outbox_->set_aside(held) + ": " +
                              done.error().message);
  return {};
}

Status Sender::send_waiting() {
  if (!outbox_) return {};
  delivery_.waiting = 0;
  away_until_ns_ = 0;
  return outbox_->each_waiting(
      [this](const Outbox::Held& held, const Letter& letter) -> Status {
        if (std::ranges::find(labels_, letter.place) != labels_.end()) return settle(held, letter);
        ++delivery_.elsewhere;
        delivery_.other = letter.place;
        return {};
      },
      delivery_.damaged);
}

}  // namespace fathom::fleet
