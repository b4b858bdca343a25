// SPDX-License-Identifier: MIT
// Collapsed stacks, the input of flame graph tools: a line for each distinct stack, program first,
// and behind it the nanoseconds that were spent in its innermost call itself. Where a recording has
// no calls, the weights of its samples; with samples of several events, these stand before the
// program.
#include <algorithm>
#include <set>
#include <string>

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

Status write(EventStream& from, ByteSink& to) {
  StackProfile profile;
  FATHOM_TRY(profile.load(from));
  std::set<std::string> events;
  for (const auto& [key, stacks] : profile.stacks) events.insert(key.event);
  const bool has_calls = events.contains("");
  SinkBuffer buffer(to);
  for (const auto& [key, stacks] : profile.stacks) {
    if (has_calls != key.event.empty()) continue;
    const std::string program = profile.program(key);
    const std::string event = !has_calls && events.size() > 1 ? key.event : "";
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
    .summary = "collapsed stacks with self time, one per line, for flame graph tools",
    .gzip = Gzip::kByName,
    .by_thread = true,
    .write = write,
};

}  // namespace fathom::render
