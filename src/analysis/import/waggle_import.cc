// SPDX-License-Identifier: MIT
// The files of Waggle's application profiler. Its probes lose the end of a function that is left by
// return or an exception: such a one ends with the function around it, or with the file.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "analysis/import/import.h"
#include "analysis/import/import_lines.h"
#include "analysis/import/waggle_lines.h"
#include "base/text.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis {
namespace {

constexpr std::int32_t kProcess = 1;  // the files name none
constexpr std::size_t kMostRows = 50'000'000;
constexpr std::size_t kDeepest = 1000;
constexpr std::int64_t kNotEnded = -1;

struct Span {
  std::int64_t begin = 0, end = 0;
  std::string name;
  bool is_loop = false;
  std::int32_t depth = 0;
};

class WaggleImport {
 public:
  Result<ImportOutcome> read(std::span<const std::string> files, const ImportOptions& options) {
    FATHOM_TRY(import_lines(files, options,
                            {.line = [&](std::string_view line) { return take(line); },
                             .file_ends = [&]() -> Status {
                               close_all();
                               return {};
                             }},
                            total_));
    total_.rows = static_cast<std::int64_t>(spans_.size() + stats_.size());
    if (total_.rows == 0) return nothing_found(files.front(), total_);
    total_.leave_out("function or turn of a loop that never ended", unended_);
    total_.leave_out("end without a beginning", unbegun_);
    return total_;
  }

  Status write(std::span<const std::string> files, const std::string& directory,
               const ImportOptions& options) {
    trace::Manifest manifest;
    manifest.origin = "import";
    manifest.facts["imported_from"] = join({files.begin(), files.end()}, " ");
    manifest.start_realtime_ns = first_;
    manifest.duration_ns = last_ - first_;
    FATHOM_ASSIGN(trace::RecordingWriter writer,
                  trace::RecordingWriter::create(directory, std::move(manifest),
                                                 {.max_bytes = options.max_bytes}));
    FATHOM_TRY(write_events(writer));
    FATHOM_TRY(write_counters(writer));
    trace::ProcessRow process;
    process.pid = kProcess;
    process.name = "app.py";
    process.start = 0;
    process.end = last_ - first_;
    writer.append(std::move(process));
    trace::ThreadRow thread;
    thread.pid = thread.tid = kProcess;
    thread.start = 0;
    thread.end = last_ - first_;
    writer.append(std::move(thread));
    tell_losses(total_, writer.manifest());
    return writer.finish();
  }

 private:
  Result<bool> take(std::string_view line) {
    line = trim(line);
    if (line.empty() || line == "time,name" || line.starts_with("time,CPU")) return true;
    if (spans_.size() + stats_.size() + open_.size() >= kMostRows)
      return Error{Code::kFull, "the files have more than 50 million rows",
                   "import a part of them"};
    if (const auto moment = parse_waggle_moment(line)) {
      see(moment->epoch_ns);
      moment->begins ? begin(*moment) : end(*moment);
      return true;
    }
    auto stats = parse_waggle_stats(line);
    if (!stats) return false;
    see(stats->epoch_ns);
    stats_.push_back(std::move(*stats));
    return true;
  }

  void see(std::int64_t ns) {
    first_ = std::min(first_, ns);
    last_ = std::max(last_, ns);
  }

  // Who calls itself too deep has lost its ends.
  void begin(const WaggleMoment& moment) {
    if (open_.size() >= kDeepest) close(0, moment.epoch_ns);
    open_.push_back({moment.epoch_ns, 0, std::string(moment.name), moment.is_loop,
                     static_cast<std::int32_t>(open_.size())});
  }

  void end(const WaggleMoment& moment) {
    std::size_t at = open_.size();
    while (at > 0 && (open_[at - 1].name != moment.name || open_[at - 1].is_loop != moment.is_loop))
      --at;
    if (at == 0) {
      ++unbegun_;
      return;
    }
    unended_ += static_cast<std::int64_t>(open_.size() - at);
    close(at - 1, moment.epoch_ns);
  }

  void close(std::size_t from, std::int64_t ns) {
    while (open_.size() > from) {
      open_.back().end = std::max(ns, open_.back().begin);
      spans_.push_back(std::move(open_.back()));
      open_.pop_back();
    }
  }

  // What was never left goes on until the last of all files ends.
  void close_all() {
    unended_ += static_cast<std::int64_t>(open_.size());
    for (Span& span : open_) {
      span.end = kNotEnded;
      spans_.push_back(std::move(span));
    }
    open_.clear();
  }

  // A row for each function; a turn of a loop is one too, named after its kind.
  Status write_events(trace::RecordingWriter& writer) {
    std::ranges::stable_sort(spans_, {},
                             [](const Span& span) { return std::pair(span.begin, span.depth); });
    for (Span& span : spans_) span.end = span.end == kNotEnded ? last_ : span.end;
    trace::EventBatch batch;
    trace::Strings& strings = writer.strings();
    for (const Span& span : spans_) {
      trace::EventRow row;
      row.ts = span.begin - first_;
      row.dur = span.end - span.begin;
      row.pid = row.tid = kProcess;
      row.depth = span.depth;
      row.layer = strings.code("python");
      row.name = strings.code(span.name);
      row.category = strings.code(span.is_loop ? "loop" : "__main__");
      batch.push(row);
    }
    return writer.append(batch);
  }

  Status write_counters(trace::RecordingWriter& writer) {
    trace::CounterBatch batch;
    trace::Strings& strings = writer.strings();
    for (const WaggleStats& stats : stats_) {
      const auto add = [&](const std::string& name, double value) {
        trace::CounterRow row{};
        row.ts = stats.epoch_ns - first_;
        row.pid = row.tid = trace::kNull32;
        row.layer = strings.code("resource");
        row.name = strings.code(name);
        row.unit = strings.code("percent");
        row.host = trace::kNoString;
        row.value = value;
        batch.rows.push_back(row);
      };
      for (std::size_t cpu = 0; cpu < stats.cpus.size(); ++cpu)
        add("cpu" + std::to_string(cpu) + "_busy", stats.cpus[cpu]);
      add("memory_share", stats.memory);
    }
    return writer.append(batch);
  }

  std::vector<Span> open_, spans_;
  std::vector<WaggleStats> stats_;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ = 0;
  std::int64_t unended_ = 0, unbegun_ = 0;
  ImportOutcome total_;
};

Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  WaggleImport import;
  FATHOM_ASSIGN(ImportOutcome outcome, import.read(files, options));
  FATHOM_TRY(import.write(files, directory, options));
  return outcome;
}

bool matches(std::string_view head) {
  return head.starts_with("time,name\n") || head.starts_with("time,name\r") ||
         head.starts_with("time,CPU,");
}

}  // namespace

extern const ImporterDef kWaggleImporter;
const ImporterDef kWaggleImporter = {
    .name = "waggle",
    .summary = "ftimes.csv, ltimes.csv and stats.csv of Waggle's profiler, or their directory",
    .matches = matches,
    .write = write,
};

}  // namespace fathom::analysis
