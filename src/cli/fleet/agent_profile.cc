// SPDX-License-Identifier: MIT
// A program is recorded with layer cpu as `fathom run` does it; its samples, added up by function,
// executable and event, go to the job, and the recording is removed.
#include <string>

#include "analysis/store.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/scratch.h"
#include "cli/fleet/agent.h"
#include "cli/open_trace.h"
#include "cli/tell.h"
#include "session/run/run.h"

namespace fathom::cli {
namespace {

// Rows of view `nodes`.
Status send_nodes(const Table& part, const AgentArguments& a, fleet::Sender& sender) {
  for (const std::vector<Value>& row : part.rows) {
    fleet::ProfileRow sum;
    std::string* const texts[] = {&sum.node, &sum.exec, &sum.event};
    for (std::size_t i = 0; i < std::size(texts); ++i) {
      if (const auto* text = std::get_if<std::string>(&row[i].data)) *texts[i] = *text;
    }
    const auto* const count = std::get_if<std::int64_t>(&row[3].data);
    sum.count = count == nullptr || *count < 0 ? 0 : *count;
    FATHOM_TRY(sender.add(a.job, sum));
  }
  return {};
}

Status send_recording(const std::string& directory, const AgentArguments& a) {
  FATHOM_ASSIGN(fleet::Sender sender, open_sender(a));
  FATHOM_ASSIGN(analysis::Store store, open_store(directory));
  FATHOM_TRY(store.stream("SELECT node, execname, event, \"count\" FROM nodes",
                          [&](const Table& part) { return send_nodes(part, a, sender); }));
  FATHOM_TRY(sender.flush(a.job));
  return finish_sending(sender, a.quiet);
}

session::RunOptions options_of(const AgentArguments& a, const std::vector<std::string>& command,
                               const std::string& directory) {
  session::RunOptions options;
  options.command = command;
  options.output = directory;
  options.layers = "cpu";
  options.sample_hz = a.sample_hz;
  options.sample_event = a.sample_event;
  options.no_command = true;
  return options;
}

}  // namespace

Result<int> profile_command(const AgentArguments& a, const std::vector<std::string>& command) {
  FATHOM_ASSIGN(const ScratchDirectory scratch,
                ScratchDirectory::make(
                    join_path(scratch_directory(), "fathom-agent-" + random_id().substr(0, 12))));
  const std::string directory = join_path(scratch.path(), "profile.fathom");
  FATHOM_ASSIGN(const session::RunOutcome outcome,
                session::run(options_of(a, command, directory), {}));
  if (outcome.not_started) {
    tell(*outcome.not_started);
    return outcome.exit_status;
  }
  if (outcome.trouble) tell(*outcome.trouble);
  // Whatever becomes of the numbers, the program's status is its own.
  if (const Status sent = send_recording(outcome.directory, a); !sent) tell(sent.error());
  return outcome.exit_status;
}

}  // namespace fathom::cli
