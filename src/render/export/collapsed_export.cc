// SPDX-License-Identifier: MIT
// Collapsed stacks, the input of flame graph tools: a line for each distinct stack, program first,
// and behind it what its samples weigh. Where there are several events, their names stand before
// the program. Without samples, recorded calls: the nanoseconds that were spent in the innermost
// one itself.
#include <algorithm>
#include <set>
#include <string>

#include "analysis/sample_events.h"
#include "base/text.h"
#include "render/export/exporter.h"
#include "render/export/json_fields.h"
#include "render/export/stacks.h"

namespace fathom::render {
namespace {

// A semicolon would end the frame, a line end the stack.
void append_frame(std::string& out, std::string_view text) {
  std::string clean = escape_control(text);
  std::ranges::replace(clean, ';', ':');
  out += clean.empty() ? "?" : clean;
}

bool is_chosen(const std::string& event, StackWeight weight) {
  const bool waits = event == analysis::kOffCpuEvent;
  if (weight == StackWeight::kCpu) return !waits;
  return weight != StackWeight::kOffCpu || waits;
}

Status read(EventStream& from, StackWeight weight, StackProfile& profile) {
  FATHOM_TRY(profile.load_names(from));
  if (weight != StackWeight::kCalls) FATHOM_TRY(profile.load_samples(from));
  std::erase_if(profile.stacks,
                [&](const auto& entry) { return !is_chosen(entry.first.event, weight); });
  const bool instead = weight == StackWeight::kOwn && profile.stacks.empty();
  return weight == StackWeight::kCalls || instead ? profile.load_calls(from) : Status();
}

Status write(EventStream& from, const StackChoice& choice, ByteSink& to) {
  StackProfile profile;
  FATHOM_TRY(read(from, choice.weight, profile));
  std::set<std::string> events;
  for (const auto& [key, stacks] : profile.stacks) events.insert(key.event);
  SinkBuffer buffer(to);
  for (const auto& [key, stacks] : profile.stacks) {
    const std::string program = profile.program(key);
    const std::string event = events.size() > 1 ? key.event : "";
    for (std::uint32_t node = 0; node < stacks.sums.size(); ++node) {
      if (stacks.sums[node].amount <= 0) continue;
      std::string& out = buffer.text();
      if (!event.empty()) {
        append_frame(out, event);
        out += ';';
      }
      append_frame(out, program);
      std::vector<std::uint32_t> path = stacks.tree.path(node);
      std::ranges::reverse(path);
      for (const std::uint32_t frame : path) {
        out += ';';
        append_frame(out, profile.frames.frames()[frame].text);
      }
      out += ' ';
      append_number(out, stacks.sums[node].amount);
      out += '\n';
      FATHOM_TRY(buffer.flush_if_large());
    }
  }
  return buffer.flush();
}

}  // namespace

extern const ExporterDef kCollapsedExporter;
const ExporterDef kCollapsedExporter = {
    .name = "collapsed",
    .summary = "collapsed stacks of samples or calls (--weight), for flame graph tools",
    .gzip = Gzip::kByName,
    .by_thread = true,
    .write_stacks = write,
};

}  // namespace fathom::render
