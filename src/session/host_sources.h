// SPDX-License-Identifier: MIT
// The sources that run beside the recorded programs, from start to stop.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sources/source.h"
#include "trace/recording/manifest.h"

namespace fathom::session {

// For the session's thread. The pump's thread drains the sources meanwhile, by pointers(); they
// allow that (source.h).
class HostSources {
 public:
  // Makes the sources, before the program is started. The first failure is the run's failure.
  Status prepare(const std::vector<const sources::SourceDef*>& defs,
                 const sources::SourceContext& context);
  // The child that is to become the program. The first failure keeps the program from starting.
  Status adopt(pid_t program);
  // A source that cannot start is removed; its layers become unavailable, with its reason.
  void start(const sources::SourceContext& context, trace::Manifest& manifest);
  // Some record processes that go on after the program.
  [[nodiscard]] bool outlived() const;
  // The program has ended: sources that go on rest until resume(), the others have stopped.
  void pause();
  void resume(const sources::SourceContext& context, trace::Manifest& manifest);
  // Last words are taken; the sources can still be drained.
  void stop();
  // What they know of the recording when they have stopped.
  void tell(trace::Manifest& manifest) const;
  // Of sources that join (source.h). The first failure is returned; the sources before it have
  // joined, or left.
  Status join(const sources::Choice& choice);
  Status leave(pid_t process);
  [[nodiscard]] std::vector<sources::Followed> followed() const;
  // What recordings are to say of how they were made.
  [[nodiscard]] std::map<std::string, std::string> facts() const;
  // Where the next recording begins; the last rows of the old one.
  std::int64_t turn(trace::Strings& strings, trace::HostRows& last);
  // For the pump, after start() or resume(). This object owns them: valid until resume() or its
  // end.
  [[nodiscard]] std::vector<sources::Source*> pointers() const;

 private:
  std::vector<std::pair<const sources::SourceDef*, std::unique_ptr<sources::Source>>> sources_;
};

// The layers of these sources record nothing, for this reason.
void mark_unavailable(const std::vector<const sources::SourceDef*>& defs, const std::string& reason,
                      trace::Manifest& manifest);

}  // namespace fathom::session
