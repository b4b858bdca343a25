// SPDX-License-Identifier: MIT
// The sources that run beside the recorded programs, from start to stop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sources/source.h"
#include "trace/manifest.h"

namespace fathom::session {

class HostSources {
 public:
  // One that cannot start makes its layers unavailable, with its reason.
  void start(const std::vector<const sources::SourceDef*>& defs,
             const sources::SourceContext& context, trace::Manifest& manifest);
  // Last words are taken; the sources can still be drained.
  void stop();
  [[nodiscard]] std::vector<sources::Source*> pointers() const;

 private:
  std::vector<std::unique_ptr<sources::Source>> running_;
};

// The layers of these sources record nothing, for this reason.
void mark_unavailable(const std::vector<const sources::SourceDef*>& defs, const std::string& reason,
                      trace::Manifest& manifest);

}  // namespace fathom::session
