// SPDX-License-Identifier: MIT
// Interns frames and stacks for flame graphs and profile formats, so that memory grows with
// distinct stacks and not with events. Calls come as begins and ends in order of time, and what is
// open is the stack; samples bring their stacks along.
#include "render/export/stacks.h"

#include <algorithm>

#include "analysis/layers.h"
#include "render/export/spans.h"

namespace fathom::render {
namespace {

// Self times of calls into the tree of their process. A process that became another program has a
// tree for each: a call that was open across the exec belongs to the first.
class CallSums : public SpanListener {
 public:
  explicit CallSums(StackProfile& profile) : profile_(profile) {}

  Status thread_begins(const ExportEvent& first) override {
    key_ = {std::string(first.host), first.pid.value_or(-1), "", std::string(first.program)};
    stacks_ = &profile_.stacks[key_];
    lanes_.clear();
    return {};
  }
  Status begin(std::size_t lane, const ExportEvent& event) override {
    if (lane >= lanes_.size()) lanes_.resize(lane + 1);
    if (event.program != key_.program) {
      key_.program = event.program;
      stacks_ = &profile_.stacks[key_];
    }
    std::vector<Open>& open = lanes_[lane];
    const bool inner = !open.empty() && open.back().stacks == stacks_;
    const std::uint32_t parent = inner ? open.back().node : StackTree::kRoot;
    open.push_back({stacks_, stacks_->tree.child(parent, profile_.frames.id(event))});
    return {};
  }
  Status end(std::size_t lane, std::int64_t ts, std::int64_t self) override {
    const Open& call = lanes_[lane].back();
    call.stacks->add(call.node, 1, self);
    lanes_[lane].pop_back();
    profile_.end = std::max(profile_.end, ts);
    return {};
  }
  Status thread_ends() override { return {}; }

 private:
  struct Open {
    StackSums* stacks;
    std::uint32_t node;
  };
  StackProfile& profile_;
  ProfileKey key_;
  StackSums* stacks_ = nullptr;
  std::vector<std::vector<Open>> lanes_;
};

}  // namespace

std::string frame_text(const ExportEvent& event) {
  std::string text(event.name);
  if (!analysis::is_code(event.layer)) {
    text += " [";
    text += event.layer;
    text += ']';
  }
  return text;
}

std::string frame_text(const ExportFrame& frame) {
  if (!frame.function.empty()) return std::string(frame.function);
  return "[" + std::string(frame.module.empty() ? "unknown" : frame.module) + "]";
}

Status ThreadNames::load(EventStream& from) {
  FATHOM_TRY(from.processes([&](const ExportProcess& process) -> Status {
    ++hosts_[std::string(process.host)];
    programs_[{std::string(process.host), process.pid}] = process.name;
    return {};
  }));
  return from.threads([&](const ExportThread& thread) -> Status {
    threads_[{std::string(thread.host), thread.pid, thread.tid}] = thread.name;
    return {};
  });
}

std::string ThreadNames::program(std::string_view host, const ExportNumber& pid) const {
  const auto found = programs_.find({std::string(host), pid.value_or(-1)});
  if (found != programs_.end() && !found->second.empty()) return found->second;
  return pid ? "pid " + std::to_string(*pid) : "no process";
}

std::string ThreadNames::thread(std::string_view host, const ExportNumber& pid,
                                const ExportNumber& tid, std::string_view earlier) const {
  std::string text = earlier.empty() ? program(host, pid) : std::string(earlier);
  if (pid) text += " (" + std::to_string(*pid) + ")";
  if (hosts_.size() > 1) text += " on " + std::string(host);
  if (!tid) return text;
  text += ", thread " + std::to_string(*tid);
  if (!earlier.empty()) return text;  // the thread's name is that of the last program, too
  const auto found = threads_.find({std::string(host), pid.value_or(-1), *tid});
  if (found != threads_.end() && !found->second.empty()) text += " " + found->second;
  return text;
}

std::uint32_t FrameTable::id(FrameInfo frame) {
  std::string key =
      frame.text + '\n' + frame.file + '\n' + std::to_string(frame.line) + '\n' + frame.module;
  const auto [found, is_new] =
      ids_.try_emplace(std::move(key), static_cast<std::uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(std::move(frame));
  return found->second;
}

std::uint32_t FrameTable::id(const ExportEvent& event) {
  return id(FrameInfo{.text = frame_text(event)});
}

std::uint32_t FrameTable::id(const ExportFrame& frame) {
  return id(FrameInfo{.text = frame_text(frame),
                      .file = std::string(frame.file.empty() ? frame.module : frame.file),
                      .line = frame.line.value_or(0),
                      .module = std::string(frame.module)});
}

std::string StackProfile::program(const ProfileKey& key) const {
  if (!key.program.empty()) return key.program;
  return names.program(key.host, key.pid < 0 ? ExportNumber() : key.pid);
}

Status StackProfile::load(EventStream& from) {
  FATHOM_TRY(load_names(from));
  FATHOM_TRY(load_calls(from));
  return load_samples(from);
}

Status StackProfile::load_calls(EventStream& from) {
  CallSums calls(*this);
  return walk_spans(from, calls);
}

Status StackProfile::load_samples(EventStream& from) {
  return from.samples([&](const ExportSample& sample) -> Status {
    StackSums& sums = stacks[{std::string(sample.host), sample.pid.value_or(-1),
                              std::string(sample.event), std::string(sample.program)}];
    std::uint32_t node = StackTree::kRoot;
    for (const ExportFrame& frame : sample.frames) node = sums.tree.child(node, frames.id(frame));
    sums.add(node, 1, sample.weight);
    end = std::max(end, sample.ts);
    return {};
  });
}

}  // namespace fathom::render
