// SPDX-License-Identifier: MIT
// Profiles of TAU: a file profile.NODE.CONTEXT.THREAD for each thread, with a row for each function
// and one for each path of calls below a root. docs/formats/tau.md has the form.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/layers.h"
#include "analysis/stack_tree.h"
#include "base/text.h"
#include "render/export/exporter.h"
#include "render/export/json_fields.h"
#include "render/export/spans.h"
#include "render/export/stacks.h"

namespace fathom::render {
namespace {

constexpr char kRootName[] = ".TAU application";
constexpr double kNsPerUs = 1000;

struct TauFrame {
  std::string name, group;
};

// What a file of its own is made of.
struct TauThread {
  std::string host;
  std::int64_t pid = -1;
  std::int64_t first = 0, last = 0;
  StackSums stacks;
};

// Quotes end a name, and the arrow joins names: neither can stand in one.
std::string name_text(std::string_view text) {
  std::string out = escape_control(text);
  std::ranges::replace(out, '"', '\'');
  for (std::size_t at = 0; (at = out.find("=>", at)) != std::string::npos;) out[at] = '-';
  return out;
}

std::string_view argument(const ExportEvent& event, std::string_view key) {
  for (const auto& [name, value] : event.args) {
    if (name == key) return value;
  }
  return {};
}

// "stretch [{/app/app.py} {72,0}]". A place with a blank or a brace would end too early.
std::string place_of(const ExportEvent& event) {
  const std::string_view file = argument(event, "file");
  const std::string_view line = argument(event, "line");
  const bool plain = file.find_first_of(" \t{}[]\"") == std::string_view::npos;
  if (file.empty() || !plain || !parse_int(line)) return "";
  return " [{" + escape_control(file) + "} {" + std::string(line) + ",0}]";
}

std::string group_of(const ExportEvent& event) {
  if (event.layer == "python" && event.name.ends_with('>') &&
      !argument(event, "iterations").empty())
    return "TAU_LOOP";
  if (event.layer == "python") return "TAU_PYTHON";
  return event.layer == "app" ? "TAU_USER" : "TAU_IO";
}

class TauSums final : public SpanListener {
 public:
  Status thread_begins(const ExportEvent& first) override {
    TauThread& thread = threads_.emplace_back();
    thread.host = first.host;
    thread.pid = first.pid.value_or(-1);
    thread.first = thread.last = first.ts;
    lanes_.clear();
    return {};
  }
  Status begin(std::size_t lane, const ExportEvent& event) override {
    if (lane >= lanes_.size()) lanes_.resize(lane + 1);
    std::vector<std::uint32_t>& open = lanes_[lane];
    const std::uint32_t parent = open.empty() ? StackTree::kRoot : open.back();
    open.push_back(threads_.back().stacks.tree.child(parent, frame_id(event)));
    return {};
  }
  Status end(std::size_t lane, std::int64_t ts, std::int64_t self) override {
    TauThread& thread = threads_.back();
    thread.stacks.add(lanes_[lane].back(), 1, self);
    thread.last = std::max(thread.last, ts);
    lanes_[lane].pop_back();
    return {};
  }
  Status thread_ends() override { return {}; }

  std::vector<TauThread>& threads() { return threads_; }
  [[nodiscard]] const std::vector<TauFrame>& frames() const { return frames_; }

 private:
  std::uint32_t frame_id(const ExportEvent& event) {
    std::string name = name_text(frame_text(event)) + place_of(event);
    const auto [found, is_new] =
        ids_.try_emplace(std::move(name), static_cast<std::uint32_t>(frames_.size()));
    if (is_new) frames_.push_back({found->first, group_of(event)});
    return found->second;
  }

  std::vector<TauThread> threads_;
  std::vector<TauFrame> frames_;
  std::map<std::string, std::uint32_t> ids_;
  std::vector<std::vector<std::uint32_t>> lanes_;
};

struct TauRow {
  std::int64_t calls = 0, inner_calls = 0, self = 0, total = 0;
};

void append_us(std::string& out, std::int64_t ns) {
  append_real(out, static_cast<double>(ns) / kNsPerUs);
}

void append_row(std::string& out, const std::string& name, const TauRow& row,
                const std::string& group) {
  out += '"' + name + "\" " + std::to_string(row.calls) + ' ' + std::to_string(row.inner_calls);
  out += ' ';
  append_us(out, row.self);
  out += ' ';
  append_us(out, row.total);
  out += " 0 GROUP=\"" + group + "\"\n";
}

// The rows of one thread.
class TauText {
 public:
  TauText(const TauThread& thread, const std::vector<TauFrame>& frames)
      : thread_(thread), frames_(frames), paths_(thread.stacks.tree.size()) {
    add_paths();
    add_functions();
  }

  [[nodiscard]] std::string text() const {
    const StackTree& tree = thread_.stacks.tree;
    std::string out = std::to_string(1 + functions_.size() + tree.size() - 1) +
                      " templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls "
                      "# <metadata><attribute><name>Metric Name</name><value>TIME</value>"
                      "</attribute></metadata>\n";
    out += root();
    for (const auto& [frame, row] : functions_)
      append_row(out, frames_[frame].name, row, frames_[frame].group);
    for (std::uint32_t node = 1; node < tree.size(); ++node)
      append_row(out, path_text(node), paths_[node],
                 frames_[tree.node(node).frame].group + "|TAU_CALLPATH");
    return out + "0 aggregates\n0 userevents\n# eventname numevents max min mean sumsqr\n";
  }

 private:
  void add_paths() {
    const StackTree& tree = thread_.stacks.tree;
    for (std::uint32_t node = tree.size(); node-- > 1;) {
      TauRow& row = paths_[node];
      if (node < thread_.stacks.sums.size()) {
        row.calls = thread_.stacks.sums[node].count;
        row.self = thread_.stacks.sums[node].amount;
      }
      row.total += row.self;
      TauRow& parent = paths_[tree.node(node).parent];
      parent.total += row.total;
      parent.inner_calls += row.calls;
    }
  }

  // A function inside itself is part of its own time already.
  void add_functions() {
    const StackTree& tree = thread_.stacks.tree;
    for (std::uint32_t node = 1; node < tree.size(); ++node) {
      const std::uint32_t frame = tree.node(node).frame;
      TauRow& row = functions_[frame];
      row.calls += paths_[node].calls;
      row.inner_calls += paths_[node].inner_calls;
      row.self += paths_[node].self;
      const std::vector<std::uint32_t> path = tree.path(node);
      if (std::ranges::count(path, frame) == 1) row.total += paths_[node].total;
    }
  }

  // In whole microseconds: Hatchet reads nothing else there.
  [[nodiscard]] std::string root() const {
    const auto us = [](std::int64_t ns) {
      return std::to_string(std::llround(static_cast<double>(ns) / kNsPerUs));
    };
    const std::int64_t life = std::max(thread_.last - thread_.first, paths_[0].total);
    return '"' + std::string(kRootName) + "\" 1 " + std::to_string(paths_[0].inner_calls) + ' ' +
           us(life - paths_[0].total) + ' ' + us(life) + " 0 GROUP=\"TAU_DEFAULT\"\n";
  }

  [[nodiscard]] std::string path_text(std::uint32_t node) const {
    std::string text = kRootName;
    std::vector<std::uint32_t> path = thread_.stacks.tree.path(node);
    for (std::size_t i = path.size(); i-- > 0;) text += "  => " + frames_[path[i]].name;
    return text;
  }

  const TauThread& thread_;
  const std::vector<TauFrame>& frames_;
  std::vector<TauRow> paths_;  // by node; the first is the root's
  std::map<std::uint32_t, TauRow> functions_;
};

// Processes in the order in which they began are nodes, and so are their threads.
void order(std::vector<TauThread>& threads) {
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> began;
  for (const TauThread& thread : threads) {
    const auto [at, is_new] = began.try_emplace({thread.host, thread.pid}, thread.first);
    if (!is_new) at->second = std::min(at->second, thread.first);
  }
  std::ranges::stable_sort(threads, {}, [&](const TauThread& thread) {
    return std::tuple(began[{thread.host, thread.pid}], thread.host, thread.pid, thread.first);
  });
}

Status write_files(EventStream& from, const OpenPart& open) {
  TauSums sums;
  FATHOM_TRY(walk_spans(from, sums));
  if (sums.threads().empty())
    return Error{Code::kNotFound, "no function was recorded",
                 "record some: fathom run --layers +python, or -finstrument-functions"};
  order(sums.threads());
  std::int64_t node = -1, thread_number = 0;
  const TauThread* before = nullptr;
  for (const TauThread& thread : sums.threads()) {
    const bool same = before != nullptr && before->host == thread.host && before->pid == thread.pid;
    thread_number = same ? thread_number + 1 : 0;
    node += same ? 0 : 1;
    before = &thread;
    FATHOM_ASSIGN(ByteSink sink,
                  open("profile." + std::to_string(node) + ".0." + std::to_string(thread_number)));
    FATHOM_TRY(sink.write(TauText(thread, sums.frames()).text()));
    FATHOM_TRY(sink.finish());
  }
  return {};
}

}  // namespace

extern const ExporterDef kTauExporter;
const ExporterDef kTauExporter = {
    .name = "tau",
    .summary = "a directory of TAU's profiles, one per thread, for pprof, paraprof and Hatchet",
    .by_thread = true,
    .write_files = write_files,
};

}  // namespace fathom::render
