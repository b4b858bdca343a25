// SPDX-License-Identifier: MIT
// speedscope's own JSON: a profile of opened and closed calls for each thread, and one of samples
// for each thread and event. Functions are named once, in an object that stands last.
#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/sample_events.h"
#include "render/export/exporter.h"
#include "render/export/json_fields.h"
#include "render/export/spans.h"
#include "render/export/stacks.h"
#include "render/export/text_spill.h"

namespace fathom::render {
namespace {

constexpr char kSchema[] = "https://www.speedscope.app/file-format-schema.json";

// Events come thread by thread; a profile is written when its thread has ended, since its begin and
// end stand before its events. Until then they are spilled to a file.
class SpeedscopeWriter : public SpanListener {
 public:
  explicit SpeedscopeWriter(ByteSink& sink) : buffer_(sink) {}

  Status write(EventStream& from) {
    FATHOM_TRY(names_.load(from));
    buffer_.text() += "{\"$schema\":\"";
    buffer_.text() += kSchema;
    buffer_.text() += "\",\"exporter\":\"fathom\",\"profiles\":[";
    FATHOM_TRY(walk_spans(from, *this));
    FATHOM_TRY(from.samples([&](const ExportSample& sample) { return add(sample); }));
    FATHOM_TRY(close_samples());
    return add_frames();
  }

  Status thread_begins(const ExportEvent& first) override {
    name_thread(first);
    return {};
  }

  // What a process did as another program has a profile of its own.
  Status begin(std::size_t lane, const ExportEvent& event) override {
    if (event.program != program_ && nothing_open()) {
      FATHOM_TRY(thread_ends());
      name_thread(event);
    }
    if (lane >= lanes_.size()) lanes_.resize(lane + 1);
    Lane& to = lanes_[lane];
    if (to.events.size() == 0) {
      to.start = event.ts;
      to.layer = event.layer;
    }
    to.open.push_back(frames_.id(event));
    return add_step(to, 'O', event.ts);
  }

  Status end(std::size_t lane, std::int64_t ts, std::int64_t /*self*/) override {
    Lane& to = lanes_[lane];
    FATHOM_TRY(add_step(to, 'C', ts));
    to.open.pop_back();
    to.end = ts;
    return {};
  }

  Status thread_ends() override {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      Lane& from = lanes_[lane];
      begin_profile("evented", lane == 0 ? thread_ : thread_ + ", " + from.layer, "nanoseconds");
      buffer_.text() += ",\"startValue\":";
      append_number(buffer_.text(), from.start);
      buffer_.text() += ",\"endValue\":";
      append_number(buffer_.text(), from.end);
      buffer_.text() += ",\"events\":";
      FATHOM_TRY(from.events.move_to(buffer_));
      buffer_.text() += '}';
    }
    lanes_.clear();
    return {};
  }

 private:
  struct Lane {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::string layer;
    std::vector<std::uint32_t> open;  // frames
    ArraySpill events;
  };
  // Of one thread, event and program.
  struct Samples {
    std::tuple<std::string, std::int64_t, std::int64_t, std::string, std::string> key;
    std::string name;
    std::int64_t total = 0;
    ArraySpill stacks, weights;
  };

  void name_thread(const ExportEvent& event) {
    program_ = event.program;
    thread_ = names_.thread(event.host, event.pid, event.tid, program_);
  }

  [[nodiscard]] bool nothing_open() const {
    return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.open.empty(); });
  }

  static Status add_step(Lane& to, char type, std::int64_t ts) {
    std::string& out = to.events.item();
    out += "{\"type\":\"";
    out += type;
    out += "\",\"frame\":";
    append_number(out, to.open.back());
    out += ",\"at\":";
    append_number(out, ts);
    out += '}';
    return to.events.spill_if_large();
  }

  void begin_profile(std::string_view type, std::string_view name, std::string_view unit) {
    std::string& out = buffer_.text();
    out += any_profile_ ? ",\n{" : "\n{";
    any_profile_ = true;
    JsonFields fields(out);
    fields.text("type", type);
    fields.text("name", name);
    fields.text("unit", unit);
  }

  Status add(const ExportSample& sample) {
    auto key =
        std::tuple(std::string(sample.host), sample.pid.value_or(-1), sample.tid.value_or(-1),
                   std::string(sample.event), std::string(sample.program));
    if (samples_.stacks.size() == 0 || key != samples_.key) {
      FATHOM_TRY(close_samples());
      samples_.key = std::move(key);
      samples_.name = names_.thread(sample.host, sample.pid, sample.tid, sample.program) + ", " +
                      std::string(sample.event);
    }
    std::string& out = samples_.stacks.item();
    char before = '[';
    for (const ExportFrame& frame : sample.frames) {
      out += before;
      before = ',';
      append_number(out, frames_.id(frame));
    }
    out += sample.frames.empty() ? "[]" : "]";
    append_number(samples_.weights.item(), sample.weight);
    samples_.total += sample.weight;
    FATHOM_TRY(samples_.stacks.spill_if_large());
    return samples_.weights.spill_if_large();
  }

  Status close_samples() {
    if (samples_.stacks.size() == 0) return {};
    const std::string& event = std::get<3>(samples_.key);
    const bool time = analysis::is_time_event(event);
    begin_profile("sampled", samples_.name, time ? "nanoseconds" : "none");
    buffer_.text() += ",\"startValue\":0,\"endValue\":";
    append_number(buffer_.text(), samples_.total);
    buffer_.text() += ",\"samples\":";
    FATHOM_TRY(samples_.stacks.move_to(buffer_));
    buffer_.text() += ",\"weights\":";
    FATHOM_TRY(samples_.weights.move_to(buffer_));
    buffer_.text() += '}';
    samples_.total = 0;
    return {};
  }

  Status add_frames() {
    buffer_.text() += "\n],\"shared\":{\"frames\":[";
    bool first = true;
    for (const FrameInfo& frame : frames_.frames()) {
      std::string& out = buffer_.text();
      out += first ? "\n{" : ",\n{";
      first = false;
      JsonFields fields(out);
      fields.text("name", frame.text);
      if (!frame.file.empty()) fields.text("file", frame.file);
      if (frame.line > 0) fields.number("line", frame.line);
      out += '}';
      FATHOM_TRY(buffer_.flush_if_large());
    }
    buffer_.text() += "\n]}}\n";
    return buffer_.flush();
  }

  SinkBuffer buffer_;
  ThreadNames names_;
  FrameTable frames_;
  std::string thread_;
  std::string program_;
  std::vector<Lane> lanes_;
  Samples samples_;
  bool any_profile_ = false;
};

Status write(EventStream& from, ByteSink& to) { return SpeedscopeWriter(to).write(from); }

}  // namespace

extern const ExporterDef kSpeedscopeExporter;
const ExporterDef kSpeedscopeExporter = {
    .name = "speedscope",
    .summary = "JSON for speedscope, with calls of each thread and samples",
    .gzip = Gzip::kByName,
    .by_thread = true,
    .write = write,
};

}  // namespace fathom::render
