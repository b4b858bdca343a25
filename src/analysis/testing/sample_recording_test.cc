// SPDX-License-Identifier: MIT
#include "analysis/testing/sample_recording.h"

#include "trace/recording/recording_writer.h"

namespace fathom::analysis::testing {
namespace {

using trace::EventRow;
using trace::Strings;

trace::Manifest manifest_of(const Sample& sample) {
  trace::Manifest manifest;
  manifest.command = {"work", "--fast"};
  manifest.host.hostname = sample.host;
  manifest.origin = "run";
  manifest.start_realtime_ns = sample.start_realtime_ns;
  manifest.duration_ns = 1'000'000;
  manifest.exit_status = 0;
  manifest.overhead_ns = 10'000;
  manifest.overhead_ns_per_event = 100;
  for (const char* layer : {"app", "stdio", "posix", "resource"}) manifest.layer(layer);
  manifest.layer("stdio").reason = "nothing happened in this layer";
  if (sample.lost > 0) manifest.add_loss({"posix", "spool full", sample.lost});
  return manifest;
}

EventRow row_of(Strings& strings, const char* layer, const char* name, const char* category) {
  EventRow row;
  row.pid = 10;
  row.tid = 10;
  row.depth = 0;
  row.layer = strings.code(layer);
  row.name = strings.code(name);
  row.category = strings.code(category);
  return row;
}

void add_reads(Strings& strings, std::int64_t reads, trace::EventBatch& events) {
  EventRow step = row_of(strings, "app", "step", "work");
  step.dur = 500'000;
  events.push(step);
  for (std::int64_t i = 0; i < reads; ++i) {
    EventRow read = row_of(strings, "posix", "pread", "read");
    read.ts = 1000 + i * 2000;
    read.dur = 1000;
    read.depth = 1;
    read.file = strings.code("/data/in");
    read.fd = 3;
    read.offset = i * 4096;
    read.size = read.bytes = read.ret = 4096;
    events.push(read);
  }
}

void add_others(Strings& strings, trace::EventBatch& events) {
  EventRow write = row_of(strings, "posix", "write", "write");
  write.ts = 600'000;
  write.dur = 2000;
  write.file = strings.code("/data/out");
  write.size = write.bytes = write.ret = 100;
  events.push(write);
  EventRow open = row_of(strings, "posix", "open", "open");
  open.ts = 700'000;
  open.dur = 3000;
  open.file = strings.code("/data/none");
  open.ret = -1;
  open.error = strings.code("ENOENT");
  open.entry = strings.code("open64");
  events.args.add(strings.code("flags"), "0");
  events.push(open);
}

void add_memory(Strings& strings, trace::CounterBatch& counters) {
  for (const std::int64_t ts : {0, 900'000}) {
    counters.rows.push_back({.ts = ts,
                             .pid = 10,
                             .tid = trace::kNull32,
                             .layer = strings.code("resource"),
                             .name = strings.code("rss"),
                             .unit = strings.code("bytes"),
                             .host = trace::kNoString,
                             .value = ts == 0 ? 1024.0 : 2048.0});
  }
}

}  // namespace

Status write_sample(const std::string& directory, const Sample& sample) {
  FATHOM_ASSIGN(trace::RecordingWriter writer,
                trace::RecordingWriter::create(directory, manifest_of(sample)));
  trace::EventBatch events;
  trace::CounterBatch counters;
  add_reads(writer.strings(), sample.reads, events);
  add_others(writer.strings(), events);
  add_memory(writer.strings(), counters);
  FATHOM_TRY(writer.append(events));
  FATHOM_TRY(writer.append(counters));
  trace::ProcessRow process;
  process.host = sample.host;
  process.pid = 10;
  process.ppid = 1;
  process.name = "work";
  process.command = "work --fast";
  process.start = 0;
  process.end = 1'000'000;
  process.exit = 0;
  writer.append(process);
  trace::ThreadRow thread;
  thread.host = sample.host;
  thread.pid = thread.tid = 10;
  thread.name = "work";
  thread.start = 0;
  thread.end = 1'000'000;
  writer.append(thread);
  return writer.finish();
}

}  // namespace fathom::analysis::testing
