// SPDX-License-Identifier: MIT
// DFTracer's `.pfw`, in the layout of its version 2.0: a bracket, one object a line, a bracket.
// Names of files and hosts stand behind hashes that lines of metadata explain. The format's unit is
// the microsecond: begin and end are both cut to it, so that events nest as before, a duration is
// off by less than 1 us, and the errors of many calls cancel out.
#include <string>
#include <unordered_map>

#include "analysis/layers.h"
#include "render/export/exporter.h"
#include "render/export/json_fields.h"
#include "render/export/pfw_words.h"
#include "render/export/stdio_items.h"

namespace fathom::render {
namespace {

// A text that is a whole number as people write it is written as a number.
void add_arg(JsonFields& fields, std::string_view key, std::string_view value) {
  std::string& out = fields.argument(key);
  if (whole_number(value)) {
    out += value;
  } else {
    append_quoted(out, value);
  }
}

void add_number(JsonFields& fields, std::string_view key, const ExportNumber& value) {
  if (value) fields.number(key, *value);
}

struct HashOfText {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using Hashes = std::unordered_map<std::string, std::string, HashOfText, std::equal_to<>>;

// Processes and threads first: their names are lines of metadata, which readers want before what
// they name.
class PfwWriter {
 public:
  PfwWriter(ByteSink& sink, std::int64_t start_ns) : buffer_(sink), start_ns_(start_ns) {}

  Status write(EventStream& from) {
    buffer_.text() += "[\n";
    FATHOM_TRY(from.processes([&](const ExportProcess& process) { return add(process); }));
    FATHOM_TRY(from.threads([&](const ExportThread& thread) { return add(thread); }));
    FATHOM_TRY(from.events(EventOrder::kAny, [&](const ExportEvent& event) { return add(event); }));
    FATHOM_TRY(from.counters([&](const ExportCounter& counter) { return add(counter); }));
    FATHOM_TRY(from.intervals(IntervalDetail::kAll,
                              [&](const ExportInterval& interval) { return add(interval); }));
    buffer_.text() += "]\n";
    return buffer_.flush();
  }

 private:
  struct Ids {
    std::string_view host;
    std::int64_t pid;
    std::int64_t tid;
  };

  // The hash of a name; the line that explains it goes out before its first use.
  const std::string& hash(std::string_view kind, Hashes& known, std::string_view name,
                          const Ids& ids) {
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    const std::string& made = known.emplace(name, pfw_hash(name)).first->second;
    add_metadata(kind, ids, name, made, false);
    return made;
  }

  const std::string& host_hash(const Ids& ids) { return hash("HH", hosts_, ids.host, ids); }

  void add_metadata(std::string_view kind, const Ids& ids, std::string_view name,
                    std::string_view value, bool as_number) {
    const bool with_host = kind != "HH" && !ids.host.empty();
    const std::string host = with_host ? host_hash(ids) : std::string(value);
    std::string& out = buffer_.text();
    out += '{';
    JsonFields fields(out);
    fields.text("name", kind);
    fields.text("cat", "dftracer");
    fields.number("pid", ids.pid);
    fields.number("tid", ids.tid);
    fields.text("ph", "M");
    fields.key("args") += '{';
    JsonFields args(out);
    if (with_host || kind == "HH") args.text("hhash", host);
    args.text("name", name);
    if (as_number) {
      args.key("value") += value;
    } else {
      args.text("value", value);
    }
    out += "}}\n";
  }

  Status add(const ExportProcess& process) {
    const Ids ids{process.host, process.pid, process.pid};
    if (!process.name.empty())
      add_metadata("process_name", ids, process.name, "process_name", false);
    if (!process.command.empty()) add_metadata("PR", ids, "command", process.command, false);
    if (process.ppid) add_metadata("PR", ids, "ppid", std::to_string(*process.ppid), true);
    if (process.rank) add_metadata("PR", ids, "rank", std::to_string(*process.rank), true);
    return buffer_.flush_if_large();
  }

  Status add(const ExportThread& thread) {
    const std::string name =
        thread.name.empty() ? std::to_string(thread.tid) : std::string(thread.name);
    add_metadata("thread_name", {thread.host, thread.pid, thread.tid}, name, "thread_name", false);
    return buffer_.flush_if_large();
  }

  Status add(const ExportEvent& event) {
    const Ids ids{event.host, event.pid.value_or(0), event.tid.value_or(0)};
    // Lines that explain hashes come first: this one must not be begun before them.
    const std::string* const host = event.host.empty() ? nullptr : &host_hash(ids);
    const std::string* const file =
        event.file.empty() ? nullptr : &hash("FH", files_, event.file, ids);
    const std::int64_t begin = pfw_us(start_ns_ + event.ts);
    std::string& out = buffer_.text();
    out += '{';
    JsonFields fields(out);
    fields.number("id", ++id_);
    fields.text("name", event.entry.empty() ? event.name : event.entry);
    fields.text("cat", category_of(event.layer, event.category));
    fields.number("pid", ids.pid);
    fields.number("tid", ids.tid);
    fields.number("ts", begin);
    fields.number("dur", pfw_us(start_ns_ + event.ts + event.dur) - begin);
    fields.text("ph", "X");
    fields.key("args") += '{';
    JsonFields args(out);
    if (host != nullptr) args.text("hhash", *host);
    if (event.depth) args.number("level", *event.depth + 1);
    if (event.layer != "app") add_call(event, args);
    if (file != nullptr) args.text("fhash", *file);
    for (const auto& [key, value] : event.args) add_arg(args, key, value);
    out += "}}\n";
    return buffer_.flush_if_large();
  }

  static std::string_view category_of(std::string_view layer, std::string_view category) {
    if (layer == "posix") return "POSIX";
    if (layer == "stdio") return "STDIO";
    return layer == "app" && !category.empty() ? category : layer;
  }

  // Whether a reader of the format takes the result for the bytes moved.
  static bool result_is_bytes(const ExportEvent& event) {
    const bool moves = event.category == "read" || event.category == "write";
    return event.layer == "posix" && moves && event.ret == event.bytes;
  }

  static void add_call(const ExportEvent& event, JsonFields& args) {
    const bool libc = analysis::is_io(event.layer);
    if (!libc) {
      args.text("layer", event.layer);
      if (!event.category.empty()) args.text("category", event.category);
    }
    if (counts_items(event)) {
      const StdioItems items = items_of(event);
      add_number(args, "ret", items.ret);
      add_number(args, "count", items.count);
      if (items.count) args.number("size", items.size);
    } else {
      add_number(args, "ret", event.ret);
      add_number(args, "count", event.size);
      if (!result_is_bytes(event)) add_number(args, "bytes", event.bytes);
    }
    if (event.category != "seek") add_number(args, "offset", event.offset);
    add_number(args, "fd", event.fd);
    if (!event.error.empty()) args.text("error", event.error);
  }

  Status add(const ExportCounter& counter) {
    const Ids ids{counter.host, counter.pid.value_or(0), counter.tid.value_or(0)};
    const std::string* const host = counter.host.empty() ? nullptr : &host_hash(ids);
    std::string& out = buffer_.text();
    out += '{';
    JsonFields fields(out);
    fields.text("name", counter.name);
    fields.text("cat", counter.layer);
    fields.number("ts", pfw_us(start_ns_ + counter.ts));
    fields.text("ph", "C");
    if (counter.pid) fields.number("pid", *counter.pid);
    if (counter.tid) fields.number("tid", *counter.tid);
    fields.key("args") += '{';
    JsonFields args(out);
    if (host != nullptr) args.text("hhash", *host);
    append_real(args.key("value"), counter.value);
    if (!counter.unit.empty()) args.text("unit", counter.unit);
    out += "}}\n";
    return buffer_.flush_if_large();
  }

  // Calls counted over a stretch of time, in the words of DFTracer's aggregated lines. What they
  // have no word for (errors) bears ours. Times have their nanoseconds behind the point.
  Status add(const ExportInterval& interval) {
    const Ids ids{interval.host, interval.pid.value_or(0), interval.tid.value_or(0)};
    const std::string* const host = interval.host.empty() ? nullptr : &host_hash(ids);
    const std::string* const file =
        interval.file.empty() ? nullptr : &hash("FH", files_, interval.file, ids);
    std::string& out = buffer_.text();
    out += '{';
    JsonFields fields(out);
    fields.text("name", interval.name);
    fields.text("cat", category_of(interval.layer, {}));
    fields.number("ts", pfw_us(start_ns_ + interval.ts));
    fields.text("ph", "C");
    if (interval.pid) fields.number("pid", *interval.pid);
    if (interval.tid) fields.number("tid", *interval.tid);
    fields.key("args") += '{';
    JsonFields args(out);
    if (host != nullptr) args.text("hhash", *host);
    args.number("dft_cnt", interval.calls);
    append_us(args.key("dur_sum"), interval.dur);
    if (interval.dur_min) append_us(args.key("dur_min"), *interval.dur_min);
    if (interval.dur_max) append_us(args.key("dur_max"), *interval.dur_max);
    add_number(args, "size_sum", interval.bytes);
    if (interval.errors != 0) args.number("errors", interval.errors);
    if (file != nullptr) args.text("fhash", *file);
    out += "}}\n";
    return buffer_.flush_if_large();
  }

  SinkBuffer buffer_;
  std::int64_t start_ns_;
  std::int64_t id_ = 0;
  Hashes files_;
  Hashes hosts_;
};

Status write(EventStream& from, ByteSink& to) {
  return PfwWriter(to, from.start_realtime_ns()).write(from);
}

}  // namespace

extern const ExporterDef kPfwExporter;
const ExporterDef kPfwExporter = {
    .name = "pfw",
    .summary = "DFTracer's lines of JSON, for dftracer-utils and DFAnalyzer",
    .gzip = Gzip::kByName,
    .write = write,
};

}  // namespace fathom::render
