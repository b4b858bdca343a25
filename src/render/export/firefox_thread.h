// SPDX-License-Identifier: MIT
// One thread of a Firefox profile: columns of samples and markers, and the tables that they point
// into. Columns are long and stand one behind the other, so they are spilled; tables grow with
// distinct functions and stacks alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "render/export/event_stream.h"
#include "render/export/stacks.h"
#include "render/export/text_spill.h"

namespace fathom::render {

struct FirefoxNames {
  std::string program;
  std::string thread;
  ExportNumber pid;
  ExportNumber tid;
  std::int64_t shown_pid = 0;  // shown_pids.h
};

// The layers that occur, in the order in which they do, behind one category for those that have no
// colour.
class FirefoxCategories {
 public:
  std::size_t of(std::string_view layer);  // its index in json()
  [[nodiscard]] std::string json() const;

 private:
  std::vector<const analysis::LayerDef*> layers_;
};

// One thread at a time. Errors are those of the temporary files (text_spill.h) and of the sink.
class FirefoxThread {
 public:
  // A stack by its innermost function.
  std::uint32_t stack(std::uint32_t parent, std::uint32_t frame) {
    return tree_.child(parent, frame);
  }
  std::uint32_t frame(const ExportEvent& event) { return frames_.id(event); }
  std::uint32_t frame(const ExportFrame& frame) { return frames_.id(frame); }

  // `weight` as the thread's samples count: ns of calls, or what a sample weighs.
  Status add_sample(std::int64_t ts, std::uint32_t stack, std::int64_t weight, bool is_time);
  Status add_marker(const ExportEvent& event, std::size_t category);  // of FirefoxCategories

  [[nodiscard]] bool empty() const { return times_.size() == 0 && marker_names_.size() == 0; }
  // The JSON object; the thread is empty afterwards.
  Status move_to(SinkBuffer& out, const FirefoxNames& names);

  static std::string marker_schema();

 private:
  std::int64_t text(const std::string& text);
  static void add_data(std::string& out, const ExportEvent& event);
  Status write_samples(SinkBuffer& out);
  Status write_markers(SinkBuffer& out);
  Status write_stacks(SinkBuffer& out);
  Status write_functions(SinkBuffer& out);

  ArraySpill stacks_, times_, weights_;
  ArraySpill marker_names_, marker_starts_, marker_ends_, marker_phases_, marker_categories_,
      marker_data_;
  bool in_time_ = true;
  StackTree tree_;
  FrameTable frames_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int64_t> text_ids_;
};

}  // namespace fathom::render
