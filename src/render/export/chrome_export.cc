// SPDX-License-Identifier: MIT
// Chrome's trace event format: one strict JSON object. Times are microseconds with nanoseconds
// behind the point.
#include <map>
#include <string>
#include <tuple>

#include "analysis/layers.h"
#include "render/export/exporter.h"
#include "render/export/interval_counters.h"
#include "render/export/json_fields.h"
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
    FATHOM_TRY(from.events(EventOrder::kAny, [&](const ExportEvent& event) { return add(event); }));
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

  static void append_ids(std::string& out, const ExportNumber& pid, const ExportNumber& tid) {
    out += ",\"pid\":";
    append_number(out, pid.value_or(0));
    out += ",\"tid\":";
    append_number(out, tid.value_or(0));
    out += ",\"args\":{";
  }

  Status add(const ExportProcess& process) {
    std::string& out = open("M");
    out += "\"process_name\"";
    append_ids(out, process.pid, process.pid);
    JsonFields fields(out);
    fields.text("name", process.name.empty() ? process.command : process.name);
    if (!process.command.empty()) fields.text("command", process.command);
    if (!process.host.empty()) fields.text("host", process.host);
    return close();
  }

  Status add(const ExportThread& thread) {
    return thread.name.empty() ? Status() : add_thread_name(thread.pid, thread.tid, thread.name);
  }

  Status add_thread_name(const ExportNumber& pid, const ExportNumber& tid, std::string_view name) {
    std::string& out = open("M");
    out += "\"thread_name\"";
    append_ids(out, pid, tid);
    JsonFields(out).text("name", name);
    return close();
  }

  // Streams of devices get a number that no thread has, and a name.
  Result<ExportNumber> track_of(const ExportEvent& event) {
    constexpr std::int64_t kNoThread = std::int64_t{1} << 30U;
    if (!is_on_device(event)) return event.tid;
    const auto next = kNoThread + static_cast<std::int64_t>(streams_.size());
    const auto [found, fresh] = streams_.try_emplace(
        std::tuple(std::string(event.host), event.pid, event.device, event.stream), next);
    if (fresh) FATHOM_TRY(add_thread_name(event.pid, next, device_name(event)));
    return ExportNumber(found->second);
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
    append_ids(out, event.pid, track);
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
    append_quoted(out, std::string(event.host) + ':' + std::to_string(event.pid.value_or(-1)) +
                           ':' + std::to_string(*event.correlation));
    if (ends) out += R"(,"bp":"e")";
    out += ",\"ts\":";
    append_us(out, event.ts);
    append_ids(out, event.pid, track);
    return close();
  }

  static void append_args(std::string& out, const ExportEvent& event) {
    JsonFields fields(out);
    if (!event.file.empty()) fields.text("file", event.file);
    const std::pair<std::string_view, const ExportNumber*> numbers[] = {
        {"fd", &event.fd},         {"offset", &event.offset},
        {"size", &event.size},     {"bytes", &event.bytes},
        {"ret", &event.ret},       {"device", &event.device},
        {"stream", &event.stream}, {"correlation", &event.correlation}};
    for (const auto& [name, value] : numbers) {
      if (value->has_value()) fields.number(name, **value);
    }
    if (!event.error.empty()) fields.text("error", event.error);
    for (const auto& [key, value] : event.args) fields.text(key, value);
  }

  Status add(const ExportCounter& counter) {
    std::string& out = open("C");
    append_quoted(out, counter.name);
    out += ",\"cat\":";
    append_quoted(out, counter.layer);
    out += ",\"ts\":";
    append_us(out, counter.ts);
    append_ids(out, counter.pid, counter.tid);
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
    fields.number("pid", sample.pid.value_or(0));
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
  bool first_ = true;
  bool has_samples_ = false;
  // By host, process, device and stream.
  std::map<std::tuple<std::string, ExportNumber, ExportNumber, ExportNumber>, std::int64_t>
      streams_;
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
    .write = write,
};

}  // namespace fathom::render
