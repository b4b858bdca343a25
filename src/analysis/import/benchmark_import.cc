// SPDX-License-Identifier: MIT
// Results of benchmarks into recordings: a directory for each command or function that was
// measured, in it a recording for each run. `diff` and `check` take such a directory for
// repetitions, as they do with recordings of one's own.
#include <algorithm>
#include <set>
#include <string>

#include "analysis/import/benchmark_results.h"
#include "analysis/import/byte_source.h"
#include "analysis/import/import.h"
#include "analysis/import/json_head.h"
#include "analysis/import/text_recording.h"
#include "base/escape.h"
#include "base/files.h"
#include "base/hex.h"
#include "base/private_files.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;
// Beyond, the runs of a benchmark would be more directories than anybody looks at.
constexpr std::size_t kMostRuns = 10'000;  // each is a directory
// No result says when a run was: they follow each other from here on.
constexpr std::int64_t kFirstStart = 1'000'000'000;

using Read = Status (*)(std::string_view text, BenchmarkResults& results);

Result<std::string> content_of(const std::string& path, ImportOutcome& outcome) {
  FATHOM_ASSIGN(ByteSource source, ByteSource::open(path));
  std::string text;
  bool gap = false;
  for (std::size_t used = 0;;) {
    text.resize(used + (std::size_t{1} << 16));
    FATHOM_ASSIGN(const std::size_t got, source.read(std::span(text).subspan(used), gap));
    used += got;
    if (got == 0 || used > kMostBytes) {
      text.resize(used);
      break;
    }
  }
  if (text.size() > kMostBytes)
    return Error{Code::kInvalid, path + " is too large for results of benchmarks", ""};
  outcome.damaged_parts += source.damage();
  return text;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      append_hex(out, byte);
    } else {
      out += letter;
    }
  }
  return out + '"';
}

// A name of a directory: what a shell or a path would take for something else becomes '_'.
std::string directory_name(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  std::string out;
  for (const char letter : name.substr(0, kLongest)) {
    const bool plain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                       (letter >= 'A' && letter <= 'Z') || letter == '-' || letter == '+' ||
                       (letter == '.' && !out.empty());
    out += plain ? letter : '_';
  }
  return out.empty() ? "benchmark" : out;
}

std::string unique(const std::string& name, std::set<std::string>& taken) {
  for (int number = 1;; ++number) {
    const std::string one = number == 1 ? name : name + "-" + std::to_string(number);
    if (taken.insert(one).second) return one;
  }
}

// By way of a textual recording: there is no event in it, and one writer of recordings less.
std::string text_of(const Benchmark& benchmark, const BenchmarkRun& run, const std::string& host,
                    std::int64_t start) {
  const std::string duration = std::to_string(run.wall_ns);
  std::string text = std::string(kTextRecordingMark) + "\nrun start=" + std::to_string(start) +
                     " duration=" + duration +
                     " origin=import command=" + quoted(benchmark.command);
  if (!host.empty()) text += " host=" + quoted(host);
  if (run.exit) text += " exit=" + std::to_string(*run.exit);
  text += "\nprocess 1 start=0 end=" + duration + " name=" + quoted(benchmark.name) +
          "\nthread 1/1 start=0 end=" + duration + "\n";
  for (const BenchmarkNumber& number : run.numbers) {
    char value[40];
    std::snprintf(value, sizeof value, "%.17g", number.value);
    text += "counter 1 " + duration + " " + number.layer + " " + quoted(number.name) + " " + value;
    if (!number.unit.empty()) text += " unit=" + quoted(number.unit);
    text += "\n";
  }
  return text;
}

Status write_runs(const Benchmark& benchmark, const std::string& host, const std::string& directory,
                  const ImportOptions& options, ImportOutcome& outcome) {
  FATHOM_TRY(make_private_dir(directory));
  std::int64_t start = kFirstStart;
  std::int64_t number = 0;
  for (const BenchmarkRun& run : benchmark.runs) {
    const std::string place = join_path(directory, std::to_string(++number));
    FATHOM_ASSIGN(
        const std::int64_t rows,
        write_text_recording(text_of(benchmark, run, host, start), place, options.max_bytes));
    (void)rows;
    outcome.rows++;
    if (options.on_progress) options.on_progress(outcome.rows);
    if (start > INT64_MAX / 4) start = kFirstStart;
    start += std::min(run.wall_ns, INT64_MAX / 4) + 1;
  }
  return {};
}

Status write_all(const BenchmarkResults& results, const std::string& directory,
                 const ImportOptions& options, ImportOutcome& outcome) {
  FATHOM_TRY(make_private_dir(directory));
  std::set<std::string> taken;
  for (const Benchmark& benchmark : results.benchmarks) {
    if (benchmark.runs.empty()) continue;
    const std::string name = unique(directory_name(benchmark.name), taken);
    FATHOM_TRY(write_runs(benchmark, results.host, join_path(directory, name), options, outcome));
  }
  return {};
}

std::size_t runs_in(const BenchmarkResults& results) {
  std::size_t runs = 0;
  for (const Benchmark& benchmark : results.benchmarks) runs += benchmark.runs.size();
  return runs;
}

Result<ImportOutcome> import_results(std::span<const std::string> files,
                                     const std::string& directory, const ImportOptions& options,
                                     Read read) {
  ImportOutcome outcome;
  BenchmarkResults results;
  for (const std::string& file : files) {
    FATHOM_ASSIGN(const std::string text, content_of(file, outcome));
    if (const Status sound = read(text, results); !sound)
      return Error{sound.error().code, file + ": " + sound.error().message, ""};
  }
  for (const auto& [reason, count] : results.left_out) outcome.leave_out(reason, count);
  const std::size_t runs = runs_in(results);
  if (runs == 0) return nothing_found(files.front(), outcome);
  if (runs > kMostRuns)
    return Error{Code::kInvalid,
                 files.front() + " has " + std::to_string(runs) + " runs, more than " +
                     std::to_string(kMostRuns),
                 "import a part of them"};
  const Status written = write_all(results, directory, options, outcome);
  if (written) return outcome;
  (void)remove_tree(directory).has_value();
  return written.error();
}

template <Read kRead>
Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  return import_results(files, directory, options, kRead);
}

bool is_object_with(std::string_view head, std::string_view first, std::string_view second) {
  const JsonHead json = json_head(head);
  return json.kind == JsonHead::Kind::kObject && json.names(first) && json.names(second);
}

}  // namespace

extern const ImporterDef kHyperfineImporter;
const ImporterDef kHyperfineImporter = {
    .name = "hyperfine",
    .summary = "results of hyperfine --export-json: a recording for each run",
    .matches = [](std::string_view head) { return is_object_with(head, "results", "mean"); },
    .write = write<read_hyperfine>,
};

extern const ImporterDef kGoogleBenchmarkImporter;
const ImporterDef kGoogleBenchmarkImporter = {
    .name = "google-benchmark",
    .summary = "results of Google Benchmark, --benchmark_format=json: a recording for each run",
    .matches = [](std::string_view head) { return is_object_with(head, "context", "benchmarks"); },
    .write = write<read_google_benchmark>,
};

extern const ImporterDef kStatImporter;
const ImporterDef kStatImporter = {
    .name = "stat",
    .summary = "results of fathom stat --format json: a recording for each run",
    .matches = [](std::string_view head) { return is_object_with(head, "commands", "runs"); },
    .write = write<read_stat>,
};

}  // namespace fathom::analysis
