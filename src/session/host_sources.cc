// SPDX-License-Identifier: MIT
// Starts, stops and asks all host sources together. A source that fails to start becomes a reason
// in the manifest, not the end of the run.
#include "session/host_sources.h"

#include <algorithm>
#include <set>

#include "base/clock.h"

namespace fathom::session {
namespace {

void tell_facts(const sources::Source& source, trace::Manifest& manifest) {
  for (const auto& [fact, value] : source.facts()) manifest.facts[fact] = value;
  for (const auto& [name, lack] : source.lacks()) {
    trace::LayerState& layer = manifest.layer(name);
    layer.state = "partial";
    if (lack.starts_with(layer.reason)) layer.reason = "";  // it says the same, and more
    if (layer.reason.find(lack) == std::string::npos)
      layer.reason += (layer.reason.empty() ? "" : "; ") + lack;
  }
}

}  // namespace

Status HostSources::prepare(const std::vector<const sources::SourceDef*>& defs,
                            const sources::SourceContext& context) {
  for (const sources::SourceDef* def : defs) {
    std::unique_ptr<sources::Source> source = def->make();
    FATHOM_TRY(source->prepare(context));
    sources_.emplace_back(def, std::move(source));
  }
  return {};
}

Status HostSources::adopt(pid_t program) {
  for (const auto& [def, source] : sources_) FATHOM_TRY(source->adopt(program));
  return {};
}

void HostSources::start(const sources::SourceContext& context, trace::Manifest& manifest) {
  std::erase_if(sources_, [&](const auto& one) {
    const Status started = one.second->start(context);
    tell_facts(*one.second, manifest);
    if (!started) mark_unavailable({one.first}, started.error().message, manifest);
    return !started;
  });
}

bool HostSources::outlived() const {
  return std::ranges::any_of(sources_, [](const auto& one) { return one.second->outlived(); });
}

void HostSources::pause() {
  for (const auto& [def, source] : sources_) source->pause();
}

void HostSources::resume(const sources::SourceContext& context, trace::Manifest& manifest) {
  std::erase_if(sources_, [](const auto& one) { return !one.second->outlived(); });
  start(context, manifest);
}

void HostSources::stop() {
  for (const auto& [def, source] : sources_) source->stop();
}

void HostSources::tell(trace::Manifest& manifest) const {
  for (const auto& [def, source] : sources_) tell_facts(*source, manifest);
}

Status HostSources::join(const sources::Choice& choice) {
  for (const auto& [def, source] : sources_) FATHOM_TRY(source->join(choice));
  return {};
}

Status HostSources::leave(pid_t process) {
  for (const auto& [def, source] : sources_) FATHOM_TRY(source->leave(process));
  return {};
}

std::vector<sources::Followed> HostSources::followed() const {
  std::vector<sources::Followed> all;
  std::set<pid_t> known;  // several sources may follow one process
  for (const auto& [def, source] : sources_) {
    for (const sources::Followed& one : source->followed()) {
      if (known.insert(one.process).second) all.push_back(one);
    }
  }
  return all;
}

std::map<std::string, std::string> HostSources::facts() const {
  std::map<std::string, std::string> all;
  for (const auto& [def, source] : sources_) all.merge(source->facts());
  return all;
}

std::int64_t HostSources::turn(trace::Strings& strings, trace::HostRows& last) {
  std::int64_t start = 0;
  for (const auto& [def, source] : sources_) start = std::max(start, source->turn(strings, last));
  if (start == 0) start = now_monotonic_ns();
  // All begin the next recording at one moment: that of the one which can say it only in whole
  // intervals.
  for (const auto& [def, source] : sources_) source->turned(start);
  return start;
}

std::vector<sources::Source*> HostSources::pointers() const {
  std::vector<sources::Source*> result;
  for (const auto& [def, source] : sources_) result.push_back(source.get());
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
