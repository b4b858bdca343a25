// SPDX-License-Identifier: MIT
// Rows that others measured, sent while they come: once a second, so that a job grows with what
// feeds it. A signal that asks us to end ends the reading; what came before is sent.
#include "base/clock.h"
#include "base/plural.h"
#include "cli/fleet/agent.h"
#include "cli/fleet/stdin_lines.h"
#include "cli/tell.h"
#include "fleet/agents/profile_lines.h"
#include "session/signal_queue.h"

namespace fathom::cli {
namespace {

constexpr std::int64_t kEveryNs = 1'000'000'000;
constexpr int kWaitMs = 1000;

Status read_all(fleet::ProfileLines& lines, fleet::Sender& sender, const std::string& job) {
  FATHOM_ASSIGN(session::SignalQueue signals, session::SignalQueue::open());
  StdinLines input;
  std::int64_t sent_ns = now_monotonic_ns();
  while (true) {
    FATHOM_ASSIGN(const StdinLines::Line line, input.next(kWaitMs));
    if (line.state == StdinLines::State::kEnd) break;
    if (line.state == StdinLines::State::kLine) FATHOM_TRY(lines.add(line.text));
    if (line.state == StdinLines::State::kTooLong) lines.add_damaged();
    if (now_monotonic_ns() - sent_ns < kEveryNs) continue;
    if (signals.told_to_end()) break;
    FATHOM_TRY(sender.flush(job));
    sent_ns = now_monotonic_ns();
  }
  signals.release();
  FATHOM_TRY(lines.finish());
  return sender.flush(job);
}

}  // namespace

Result<int> profile_stdin(const AgentArguments& a) {
  FATHOM_ASSIGN(fleet::Sender sender, open_sender(a));
  fleet::ProfileLines lines([&](const fleet::ProfileRow& row) { return sender.add(a.job, row); });
  const Status read = read_all(lines, sender, a.job);
  if (read && lines.rows() == 0)
    return Error{Code::kInvalid,
                 lines.damaged() == 0 ? std::string("standard input contains no profile rows")
                                      : "standard input contains no profile rows, but " +
                                            counted(lines.damaged(), "line") + " of other text",
                 "write JSON lines with node, exec, event and count, or the text of 'perf script'"};
  if (lines.damaged() > 0)
    remark(counted(lines.damaged(), "damaged line") + " left out, the first is line " +
           std::to_string(lines.first_damaged()));
  FATHOM_TRY(read);
  FATHOM_TRY(finish_sending(sender, a.quiet));
  return sender.outcome().refused.empty() ? 0 : exit_status(Code::kInvalid);
}

}  // namespace fathom::cli
