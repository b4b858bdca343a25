// SPDX-License-Identifier: MIT
// A program is recorded with layer cpu as `fathom run` does it; its samples, added up by function,
// executable and event, go to the job while it runs (profile_stream.h). The recording is removed,
// or, with --record, goes to the server as well.
#include <optional>
#include <string>

#include "base/files.h"
#include "base/ids.h"
#include "base/scratch.h"
#include "cli/fleet/agent.h"
#include "cli/fleet/agent_recording.h"
#include "cli/fleet/profile_stream.h"
#include "cli/tell.h"
#include "session/run/run.h"

namespace fathom::cli {
namespace {

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
  ScratchDirectory scratch;
  std::optional<AgentRecording> recording;
  if (a.record) {
    FATHOM_ASSIGN(recording, AgentRecording::begin(a));
  } else {
    FATHOM_ASSIGN(scratch, ScratchDirectory::make(join_path(
                               scratch_directory(), "fathom-agent-" + random_id().substr(0, 12))));
  }
  const std::string directory =
      recording ? recording->directory() : join_path(scratch.path(), "profile.fathom");
  FATHOM_ASSIGN(ProfileStream stream, ProfileStream::start(a, directory));
  FATHOM_ASSIGN(const session::RunOutcome outcome,
                session::run(options_of(a, command, directory), {}));
  if (outcome.not_started) {
    stream.give_up();
    tell(*outcome.not_started);
    return outcome.exit_status;
  }
  if (outcome.trouble) tell(*outcome.trouble);
  // Whatever becomes of the numbers, the program's status is its own.
  if (const Status sent = stream.finish(); !sent) tell(sent.error());
  if (recording) {
    if (const Status sent = recording->hand_over(a); !sent) tell(sent.error());
  }
  return outcome.exit_status;
}

}  // namespace fathom::cli
