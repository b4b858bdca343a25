// SPDX-License-Identifier: MIT
// Chrome's trace event format: one strict JSON object. Times are microseconds with nanoseconds
// behind the point.
#include <charconv>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/layers.h"
#include "render/export/exporter.h"
#include "render/export/interval_counters.h"
#include "render/export/json_fields.h"
#include "render/export/shown_pids.h"
#include "render/export/stacks.h"

namespace fathom::render {
namespace {

class ChromeWriter {
 public:
  explicit ChromeWriter(ByteSink& sink) : buffer_(sink) {}

  Status write(EventStream& from) {
    buffer_.text() += "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    FATHOM_TRY(from.processes([&](const ExportProcess& process) { return add(process); }));
    FATHOM_TRY(from.threads([&](const ExportThread& thread) { return add(thread); }));
    FATHOM_TRY(
        from.events(EventOrder::kByThread, [&](const ExportEvent& event) { return add(event); }));
    FATHOM_TRY(from.counters([&](const ExportCounter& counter) { return add(counter); }));
    FATHOM_TRY(interval_counters(from, [&](const ExportCounter& counter) { return add(counter); }));
    buffer_.text() += "\n]";
    FATHOM_TRY(from.samples([&](const ExportSample& sample) { return add(sample); }));
    if (has_samples_) buffer_.text() += "\n]";
    FATHOM_TRY(add_stacks());
    buffer_.text() += "}\n";
    return buffer_.flush();
  }

 private:
  using ThreadKey = std::tuple<std::string, ExportNumber, ExportNumber>;  // host, pid, tid
  using DeviceStream = std::pair<ExportNumber, ExportNumber>;             // {}: a thread's own
  struct Lane {
    ExportNumber tid;
    std::vector<std::int64_t> ends;  // of open events, outermost first
  };
  static constexpr std::int64_t kNoThread = std::int64_t{1} << 30U;

  // Each event on a line of its own: still strict JSON, and kind to grep.
  std::string& next_line() {
    std::string& out = buffer_.text();
    out += first_ ? "\n" : ",\n";
    first_ = false;
    return out;
  }

  // Viewers take an empty part for a profile without samples and show no events, so it is written
  // only when there is something in it.
  void open_part(std::string_view name, char bracket) {
    buffer_.text().append(",\"").append(name).append("\":").push_back(bracket);
    first_ = true;
  }

  std::string& open(std::string_view phase) {
    std::string& out = next_line();
    out += "{\"ph\":\"";
    out += phase;
    out += "\",\"name\":";
    return out;
  }

  Status close() {
    buffer_.text() += "}}";
    return buffer_.flush_if_large();
  }

  void append_ids(std::string& out, std::string_view host, const ExportNumber& pid,
                  const ExportNumber& tid) {
    out += ",\"pid\":";
    append_number(out, pid ? pids_.of(host, *pid) : 0);
    out += ",\"tid\":";
    append_number(out, tid.value_or(0));
    out += ",\"args\":{";
  }

  Status add(const ExportProcess& process) {
    std::string& out = open("M");
    out += "\"process_name\"";
    append_ids(out, process.host, process.pid, process.pid);
    JsonFields fields(out);
    fields.text("name", pids_.name(process));
    if (!process.command.empty()) fields.text("command", process.command);
    if (!process.host.empty()) fields.text("host", process.host);
    return close();
  }

  Status add(const ExportThread& thread) {
    if (thread.name.empty()) return {};
    return add_thread_name(thread.host, thread.pid, thread.tid, thread.name);
  }

  Status add_thread_name(std::string_view host, const ExportNumber& pid, const ExportNumber& tid,
                         std::string_view name) {
    std::string& out = open("M");
    out += "\"thread_name\"";
    append_ids(out, host, pid, tid);
    JsonFields(out).text("name", name);
    return close();
  }

  // Streams of devices, and what overlaps on a thread or a stream without nesting, get a number
  // that no thread has, and a name: viewers drop what does not nest.
  Result<ExportNumber> track_of(const ExportEvent& event) {
    const ThreadKey key{event.host, event.pid, event.tid};
    if (key != thread_) {
      lanes_.clear();
      thread_ = key;
    }
    const bool on_device = is_on_device(event);
    const DeviceStream place =
        on_device ? DeviceStream{event.device, event.stream} : DeviceStream{};
    std::vector<Lane>& lanes = lanes_[place];
    for (Lane& lane : lanes) {
      while (!lane.ends.empty() && lane.ends.back() <= event.ts) lane.ends.pop_back();
      if (!lane.ends.empty() && event.ts + event.dur > lane.ends.back()) continue;
      lane.ends.push_back(event.ts + event.dur);
      return lane.tid;
    }
    ExportNumber tid = event.tid;
    if (on_device || !lanes.empty()) {
      tid = kNoThread + extra_tracks_++;
      std::string name = on_device ? device_name(event) : std::string(event.layer);
      if (!on_device && event.tid) name = "thread " + std::to_string(*event.tid) + ", " + name;
      FATHOM_TRY(add_thread_name(event.host, event.pid, tid, name));
    }
    lanes.push_back({tid, {event.ts + event.dur}});
    return tid;
  }

  Status add(const ExportEvent& event) {
    FATHOM_ASSIGN(const ExportNumber track, track_of(event));
    std::string& out = open("X");
    append_quoted(out, event.name);
    out += ",\"cat\":\"";
    append_json_text(out, event.layer);
    if (!event.category.empty()) {
      out += ',';
      append_json_text(out, event.category);
    }
    out += "\",\"ts\":";
    append_us(out, event.ts);
    out += ",\"dur\":";
    append_us(out, event.dur);
    append_ids(out, event.host, event.pid, track);
    append_args(out, event);
    FATHOM_TRY(close());
    return event.correlation ? add_flow(event, track) : Status();
  }

  // An arrow from the call to the work of a device that it started: what bears one correlation in a
  // process belongs together.
  Status add_flow(const ExportEvent& event, const ExportNumber& track) {
    const bool ends = analysis::is_device(event.layer);
    std::string& out = open(ends ? "f" : "s");
    out += R"("correlation","cat":"correlation","id":)";
    // Perfetto takes numbers alone, and JSON's have no 64 bits.
    char room[24];
    char* const end = std::to_chars(room, room + sizeof room, flow_of(event), 16).ptr;
    out.append("\"0x").append(room, end).append("\"");
    if (ends) out += R"(,"bp":"e")";
    out += ",\"ts\":";
    append_us(out, event.ts);
    append_ids(out, event.host, event.pid, track);
    return close();
  }

  static void append_args(std::string& out, const ExportEvent& event) {
    JsonFields fields(out);
    if (!event.file.empty()) fields.text("file", event.file);
    for (const auto& [name, value] : numbers_of(event)) {
      if (value) fields.number(name, *value);
    }
    if (!event.error.empty()) fields.text("error", event.error);
    if (!event.program.empty()) fields.text("program", event.program);
    for (const auto& [key, value] : event.args) append_quoted(fields.argument(key), value);
  }

  Status add(const ExportCounter& counter) {
    std::string& out = open("C");
    append_quoted(out, counter.name);
    out += ",\"cat\":";
    append_quoted(out, counter.layer);
    out += ",\"ts\":";
    append_us(out, counter.ts);
    append_ids(out, counter.host, counter.pid, counter.tid);
    append_real(JsonFields(out).key(counter.unit.empty() ? "value" : counter.unit), counter.value);
    return close();
  }

  // `sf` is the stack by its innermost frame, which knows the one that holds it.
  Status add(const ExportSample& sample) {
    if (!has_samples_) open_part("samples", '[');
    has_samples_ = true;
    std::string& out = next_line() += '{';
    JsonFields fields(out);
    if (sample.cpu) fields.number("cpu", *sample.cpu);
    fields.number("pid", sample.pid ? pids_.of(sample.host, *sample.pid) : 0);
    fields.number("tid", sample.tid.value_or(0));
    append_us(fields.key("ts"), sample.ts);
    fields.text("name", sample.event);
    std::uint32_t stack = StackTree::kRoot;
    for (const ExportFrame& frame : sample.frames) stack = stacks_.child(stack, frames_.id(frame));
    if (stack != StackTree::kRoot) fields.number("sf", stack);
    fields.number("weight", sample.weight);
    out += '}';
    return buffer_.flush_if_large();
  }

  Status add_stacks() {
    if (stacks_.size() <= 1) return {};
    open_part("stackFrames", '{');
    for (std::uint32_t id = 1; id < stacks_.size(); ++id) {
      const StackTree::Node& node = stacks_.node(id);
      const FrameInfo& frame = frames_.frames()[node.frame];
      std::string& out = next_line();
      append_quoted(out, std::to_string(id));
      out += ":{";
      JsonFields fields(out);
      fields.text("category", frame.file);
      fields.text("name", frame.text);
      if (node.parent != StackTree::kRoot) fields.number("parent", node.parent);
      out += '}';
      FATHOM_TRY(buffer_.flush_if_large());
    }
    buffer_.text() += "\n}";
    return {};
  }

  SinkBuffer buffer_;
  ShownPids pids_;
  bool first_ = true;
  bool has_samples_ = false;
  ThreadKey thread_;
  std::map<DeviceStream, std::vector<Lane>> lanes_;  // of thread_
  std::int64_t extra_tracks_ = 0;
  FrameTable frames_;
  StackTree stacks_;
};

Status write(EventStream& from, ByteSink& to) { return ChromeWriter(to).write(from); }

}  // namespace

extern const ExporterDef kChromeExporter;
const ExporterDef kChromeExporter = {
    .name = "chrome",
    .summary = "trace events as JSON, for chrome://tracing, ui.perfetto.dev and speedscope",
    .gzip = Gzip::kByName,
    .by_thread = true,
    .write = write,
};

}  // namespace fathom::render
