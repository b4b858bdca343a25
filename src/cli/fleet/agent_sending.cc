// SPDX-License-Identifier: MIT
// The way of an agent's numbers to its job, and what there is to say about it.
#include "base/plural.h"
#include "base/text.h"
#include "cli/fleet/agent.h"
#include "cli/tell.h"
#include "fleet/user_folders.h"

namespace fathom::cli {
namespace {

Error no_job(const std::string& job) {
  return {Code::kNotFound, "there is no job '" + escape_control(job) + "'",
          fleet::is_job_name(job) ? "make it with: fathom job create " + job
                                  : "'fathom job list' shows those that there are"};
}

bool may_wait(const Error& error, const AgentArguments& a) {
  return error.code == Code::kUnavailable && !a.no_outbox;
}

void tell_waiting(const fleet::Delivery& outcome) {
  if (outcome.waiting > 0 && outcome.away)
    remark(outcome.away->message + ": " + counted(outcome.waiting, "batch") + " wait" +
           (outcome.waiting == 1 ? "s" : "") +
           " in the outbox for the next agent, or for 'fathom agent flush'");
  if (outcome.elsewhere > 0)
    remark(counted(outcome.elsewhere, "batch") + " in the outbox wait" +
           (outcome.elsewhere == 1 ? "s" : "") + " for " + escape_control(outcome.other) +
           "; to send there: fathom agent flush --server URL");
}

}  // namespace

Status check_job(const AgentArguments& a) {
  FATHOM_ASSIGN(const fleet::StorePlace place, fleet::find_store(a.store));
  const Result<std::unique_ptr<fleet::JobStore>> store = fleet::open_place(place);
  if (!store) return may_wait(store.error(), a) ? Status() : store.error();
  const Result<fleet::Job> job = (*store)->job(a.job);
  if (job || may_wait(job.error(), a)) return {};
  const Code code = job.error().code;
  return code == Code::kNotFound || code == Code::kInvalid ? no_job(a.job) : job.error();
}

Result<fleet::Sender> open_sender(const AgentArguments& a) {
  FATHOM_ASSIGN(const fleet::StorePlace place, fleet::find_store(a.store));
  Result<std::unique_ptr<fleet::JobStore>> store = fleet::open_place(place);
  if (!store && !may_wait(store.error(), a)) return store.error();
  std::string folder;
  if (!a.no_outbox) {
    FATHOM_ASSIGN(folder, fleet::state_folder());
  }
  return fleet::Sender::open(store ? std::move(store).value() : nullptr, place.labels, folder);
}

Status finish_sending(fleet::Sender& sender, bool quiet) {
  FATHOM_TRY(sender.send_waiting());
  const fleet::Delivery& outcome = sender.outcome();
  if (!quiet) tell_waiting(outcome);
  for (const std::string& path : outcome.damaged)
    remark("skipped a damaged file of the outbox: " + path);
  for (const std::string& sentence : outcome.refused) remark(sentence);
  return {};
}

}  // namespace fathom::cli
