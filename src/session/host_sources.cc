// SPDX-License-Identifier: MIT
#include "session/host_sources.h"

namespace fathom::session {

void HostSources::start(const std::vector<const sources::SourceDef*>& defs,
                        const sources::SourceContext& context, trace::Manifest& manifest) {
  for (const sources::SourceDef* def : defs) {
    std::unique_ptr<sources::Source> source = def->make();
    if (const Status started = source->start(context); !started) {
      mark_unavailable({def}, started.error().message, manifest);
    } else {
      running_.push_back(std::move(source));
    }
  }
}

void HostSources::stop() {
  for (const auto& source : running_) source->stop();
}

std::vector<sources::Source*> HostSources::pointers() const {
  std::vector<sources::Source*> result;
  for (const auto& source : running_) result.push_back(source.get());
  return result;
}

void mark_unavailable(const std::vector<const sources::SourceDef*>& defs, const std::string& reason,
                      trace::Manifest& manifest) {
  for (const sources::SourceDef* def : defs) {
    for (const std::string_view name : def->layers) {
      trace::LayerState& layer = manifest.layer(name);
      if (layer.events > 0) continue;
      layer.state = "unavailable";
      layer.reason = reason;
    }
  }
}

}  // namespace fathom::session
