// SPDX-License-Identifier: MIT
// DataCrumbs' counters: a bracket, which its notebook skips, then a line for each call of a thread
// and file in an interval, with the number of calls (`freq` in its notebook, `count` in its newer
// files) and their time in seconds. The format's unit of time is the microsecond, with a point.
// What is unknown is null, as its notebook asks for every key.
#include "render/export/counter_line.h"

#include <string>

#include "render/export/exporter.h"
#include "render/export/json_fields.h"

namespace fathom::render {
namespace {

constexpr double kNsPerSecond = 1e9;

// One that was named.
bool is_function(const ExportInterval& interval) {
  return interval.layer == "user" || interval.layer == "kernel";
}

// As its own files call them.
std::string_view category_of(const ExportInterval& interval) {
  if (interval.layer == "syscall") return "sys";
  if (is_function(interval) && !interval.category.empty()) return interval.category;
  return interval.layer == "pagecache" ? "os_cache" : interval.layer;
}

// A function without a category of its own bears that of its file: "malloc [libc.so.6]".
std::string name_of(const ExportInterval& interval) {
  std::string name(interval.name);
  const bool of_file = is_function(interval) && interval.category.starts_with('[');
  return of_file ? name.append(" ").append(interval.category) : name;
}

Status write(EventStream& from, ByteSink& to) {
  SinkBuffer buffer(to);
  buffer.text() += kCounterHead;
  FATHOM_TRY(from.intervals(IntervalDetail::kAll, [&](const ExportInterval& interval) {
    append_counter_line(buffer.text(), interval);
    return buffer.flush_if_large();
  }));
  return buffer.flush();
}

}  // namespace

void append_counter_line(std::string& out, const ExportInterval& interval) {
  out += '{';
  JsonFields fields(out);
  fields.number("pid", interval.pid.value_or(0));
  fields.number("tid", interval.tid.value_or(0));
  fields.text("name", name_of(interval));
  fields.text("cat", category_of(interval));
  fields.text("ph", "C");
  append_us(fields.key("ts"), interval.ts);
  fields.key("args") += '{';
  JsonFields args(out);
  if (!interval.host.empty()) args.text("hostname", interval.host);
  if (!interval.file.empty())
    args.text("fname", interval.file);
  else
    args.key("fname") += "null";
  args.number("count", interval.calls);
  args.number("freq", interval.calls);
  append_real(args.key("time"), static_cast<double>(interval.dur) / kNsPerSecond);
  if (interval.bytes)
    args.number("size_sum", *interval.bytes);
  else
    args.key("size_sum") += "null";
  out += "}}\n";
}

extern const ExporterDef kDatacrumbsExporter;
const ExporterDef kDatacrumbsExporter = {
    .name = "pfw",
    .dialect = "datacrumbs",
    .summary = "DataCrumbs' counters as lines of JSON, for its notebooks",
    .gzip = Gzip::kByName,
    .write = write,
};

}  // namespace fathom::render
