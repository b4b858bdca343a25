// SPDX-License-Identifier: MIT
// The recording that `fathom agent --record` makes beside the numbers, and its way to the server.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/scratch.h"
#include "cli/fleet/agent.h"
#include "fleet/recordings/recording_outbox.h"

namespace fathom::cli {

// One recording: made in directory(), then handed over. Gone without hand_over(), and nothing is
// left.
class AgentRecording {
 public:
  static Result<AgentRecording> begin(const AgentArguments& arguments);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string directory() const;

  // It is whole. It goes to the server now, or waits for it in the outbox; says which on stderr.
  Status hand_over(const AgentArguments& arguments);

 private:
  std::string name_;
  std::optional<fleet::RecordingOutbox> outbox_;
  std::optional<fleet::RecordingOutbox::Draft> draft_;
  ScratchDirectory scratch_;  // with --no-outbox
};

// Sends recordings that wait from before, and says what became of them. Nothing happens where none
// waits. Returns how many wait still.
Result<std::int64_t> send_waiting_recordings(const AgentArguments& arguments);

}  // namespace fathom::cli
