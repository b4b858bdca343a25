// SPDX-License-Identifier: MIT
// Firefox Profiler's processed format (preprocessedProfileVersion 47), for profiler.firefox.com:
// every event is a marker of its thread, and the stacks that they make are samples, a sample for
// each stretch of time in which the stack stays the same. What samplers took becomes threads of
// their own.
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/sample_events.h"
#include "render/export/exporter.h"
#include "render/export/firefox_counters.h"
#include "render/export/firefox_thread.h"
#include "render/export/interval_counters.h"
#include "render/export/json_fields.h"
#include "render/export/shown_pids.h"
#include "render/export/spans.h"
#include "render/export/stacks.h"

namespace fathom::render {
namespace {

// One thread at a time is held, its columns spilled; it is written when the next one begins.
class FirefoxWriter : public SpanListener {
 public:
  explicit FirefoxWriter(ByteSink& sink) : buffer_(sink) {}

  Status write(EventStream& from) {
    FATHOM_TRY(names_.load(from));
    buffer_.text() += "{\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"threads\":[";
    FATHOM_TRY(walk_spans(from, *this));
    FATHOM_TRY(from.samples([&](const ExportSample& sample) { return add(sample); }));
    FATHOM_TRY(close_thread());
    FATHOM_TRY(add_counters(from));
    buffer_.text() += "\n],";
    add_meta(from.start_realtime_ns());
    buffer_.text() += "}\n";
    return buffer_.flush();
  }

  Status thread_begins(const ExportEvent& first) override {
    name_thread(first.host, first.pid, first.tid, "");
    open_.clear();
    return {};
  }
  Status begin(std::size_t lane, const ExportEvent& event) override {
    FATHOM_TRY(thread_.add_marker(event, categories_.of(event.layer)));
    if (lane > 0) return {};  // stacks are made of what nests; the marker tells the rest
    FATHOM_TRY(pass_time(event.ts));
    const std::uint32_t parent = open_.empty() ? StackTree::kRoot : open_.back();
    open_.push_back(thread_.stack(parent, thread_.frame(event)));
    return {};
  }
  Status end(std::size_t lane, std::int64_t ts, std::int64_t /*self*/) override {
    if (lane > 0) return {};
    FATHOM_TRY(pass_time(ts));
    open_.pop_back();
    return {};
  }
  Status thread_ends() override { return close_thread(); }

 private:
  using SampleKey = std::tuple<std::string, std::int64_t, std::int64_t, std::string>;

  // Behind the threads: only they tell which layers there are.
  void add_meta(std::int64_t start_ns) {
    std::string& out = buffer_.text();
    out += "\"meta\":{\"interval\":1,\"startTime\":";
    append_ms(out, start_ns);
    out +=
        ",\"processType\":0,\"product\":\"fathom\",\"stackwalk\":1,\"debug\":false,\"version\":27,"
        "\"preprocessedProfileVersion\":47,\"symbolicated\":true,\"physicalCPUs\":0,"
        "\"logicalCPUs\":0,\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
        "\"sourceCodeIsNotOnSearchfox\":true,\"extensions\":{\"id\":[],\"name\":[],"
        "\"baseURL\":[],\"length\":0},\"categories\":";
    out += categories_.json();
    out += ",\"markerSchema\":";
    out += FirefoxThread::marker_schema();
    out += '}';
  }

  void name_thread(std::string_view host, const ExportNumber& pid, const ExportNumber& tid,
                   std::string_view event) {
    host_ = host;
    now_ = names_of(host, pid);
    now_.thread = names_.thread(host, pid, tid);
    now_.tid = tid;
    if (event.empty()) return;
    now_.thread += ", " + std::string(event);
    now_.tid.reset();  // beside the thread that its calls make
  }

  // Those of the process.
  FirefoxNames names_of(std::string_view host, const ExportNumber& pid) {
    const std::int64_t shown = pids_.of(host, pid.value_or(0));
    return {.program = pids_.name(host, pid.value_or(0), names_.program(host, pid)),
            .thread = {},
            .pid = pid,
            .tid = {},
            .shown_pid = shown};
  }

  // The stack stayed as it is from `since_` until now.
  Status pass_time(std::int64_t ts) {
    const std::int64_t since = since_;
    since_ = ts;
    if (open_.empty() || ts <= since) return {};
    return thread_.add_sample(since, open_.back(), ts - since, true);
  }

  Status add(const ExportSample& sample) {
    SampleKey key{std::string(sample.host), sample.pid.value_or(-1), sample.tid.value_or(-1),
                  std::string(sample.event)};
    if (thread_.empty() || key != key_) {
      FATHOM_TRY(close_thread());
      key_ = std::move(key);
      name_thread(sample.host, sample.pid, sample.tid, sample.event);
    }
    std::uint32_t stack = StackTree::kRoot;
    for (const ExportFrame& frame : sample.frames)
      stack = thread_.stack(stack, thread_.frame(frame));
    return thread_.add_sample(sample.ts, stack, sample.weight,
                              analysis::is_time_event(sample.event));
  }

  // A counter is shown beside a thread of its process: one without calls where there is none.
  Status add_counters(EventStream& from) {
    FirefoxCounters counters;
    const auto add = [&](const ExportCounter& counter) { return counters.add(counter); };
    FATHOM_TRY(from.counters(add));
    FATHOM_TRY(interval_counters(from, add));
    for (const auto& [host, pid] : counters.owners()) {
      if (first_threads_.contains({host, pid})) continue;
      const bool machine = pid == FirefoxCounters::kNoProcess;
      now_ = names_of(host, machine ? 0 : pid);
      if (machine) now_.program = pids_.name(host, 0, "machine");
      now_.thread = "counters";
      first_threads_.try_emplace({host, pid}, place());
      FATHOM_TRY(put_thread());
    }
    buffer_.text() += "\n],\"counters\":[";
    return counters.move_to(buffer_, first_threads_);
  }

  [[nodiscard]] FirefoxCounters::Place place() const { return {threads_, now_.shown_pid}; }

  Status close_thread() {
    if (thread_.empty()) return {};
    if (now_.pid) first_threads_.try_emplace({host_, *now_.pid}, place());
    return put_thread();
  }

  Status put_thread() {
    buffer_.text() += threads_ > 0 ? ",\n" : "\n";
    ++threads_;
    FATHOM_TRY(thread_.move_to(buffer_, now_));
    thread_ = FirefoxThread();
    return {};
  }

  SinkBuffer buffer_;
  ThreadNames names_;
  FirefoxNames now_;
  std::string host_;  // of now_
  FirefoxThread thread_;
  FirefoxCategories categories_;
  std::vector<std::uint32_t> open_;  // stacks of open calls
  std::int64_t since_ = 0;
  SampleKey key_;
  std::size_t threads_ = 0;
  std::map<FirefoxCounters::Owner, FirefoxCounters::Place> first_threads_;
  ShownPids pids_;
};

Status write(EventStream& from, ByteSink& to) { return FirefoxWriter(to).write(from); }

}  // namespace

extern const ExporterDef kFirefoxExporter;
const ExporterDef kFirefoxExporter = {
    .name = "firefox",
    .summary = "JSON for profiler.firefox.com, with markers and stacks of each thread",
    .gzip = Gzip::kByName,
    .by_thread = true,
    .write = write,
};

}  // namespace fathom::render
