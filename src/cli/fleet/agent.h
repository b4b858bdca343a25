// SPDX-License-Identifier: MIT
// What the actions of `fathom agent` share: the job, the store, and the sender to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/agents/sender.h"
#include "fleet/stores/find_store.h"

namespace fathom::cli {

struct AgentArguments {
  std::string action, job, log, program, revision;
  std::vector<std::string> command, events;
  std::int64_t runs = 1, warmup = 0;
  bool from_stdin = false, no_outbox = false, ignore_failure = false, quiet = false;
  bool record = false;
  double sample_hz = 99;
  double interval = 5;  // seconds between two batches of a profile; 0: one at the end
  std::string sample_event;
  fleet::PlaceOptions store;
};

// Before anything runs: an Error where there is no such job; its hint makes it. A server that is
// away is none, unless --no-outbox was given: what is measured waits in the outbox then.
Status check_job(const AgentArguments& arguments);

// Asks nothing yet: what was measured is kept first.
Result<fleet::Sender> open_sender(const AgentArguments& arguments);

// Sends what waits and says what became of it all, on stderr. The numbers of a batch that was
// refused, or that found no room, are an Error.
Status finish_sending(fleet::Sender& sender, bool quiet);

// The whole of one command: runs it, sends what was measured; the status is the program's own.
Result<int> profile_command(const AgentArguments& arguments,
                            const std::vector<std::string>& command);
Result<int> bench_command(const AgentArguments& arguments, const std::vector<std::string>& command);

// Lines of standard input until their end.
Result<int> profile_stdin(const AgentArguments& arguments);

}  // namespace fathom::cli
