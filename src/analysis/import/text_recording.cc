// SPDX-License-Identifier: MIT
// Recordings as text: the input of our golden tests, and a format that anybody can write. People
// write it, so every mistake is an error that names its line: a word that was passed over would be
// a test that tests nothing.
#include "analysis/import/text_recording.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "analysis/import/import.h"
#include "analysis/import/nesting.h"
#include "analysis/import/text_words.h"
#include "base/files.h"
#include "base/text.h"
#include "trace/recording/recording_writer.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

using trace::kNull32;

Error wrong(const std::string& what) { return {Code::kInvalid, what, ""}; }

struct Ids {
  std::int32_t pid = kNull32;
  std::int32_t tid = kNull32;
};

Result<std::int32_t> id_of(std::string_view text) {
  if (text == "-") return kNull32;
  const Result<std::int64_t> number = parse_int(text);
  if (!number || *number < 0 || *number > std::numeric_limits<std::int32_t>::max())
    return wrong("'" + escape_control(text) + "' is not a pid or tid");
  return static_cast<std::int32_t>(*number);
}

// "7/8" is pid and tid, "7" a process as a whole, "-" nobody.
Result<Ids> ids_of(const std::string& text) {
  Ids ids;
  const std::size_t slash = text.find('/');
  FATHOM_ASSIGN(ids.pid, id_of(std::string_view(text).substr(0, slash)));
  if (slash == std::string::npos) return ids;
  FATHOM_ASSIGN(ids.tid, id_of(std::string_view(text).substr(slash + 1)));
  return ids;
}

Result<std::int64_t> length_of(TextWords& words) {  // "+500": ns
  FATHOM_ASSIGN(const std::string text, words.word("duration"));
  const Result<std::int64_t> number =
      text.starts_with('+') ? parse_int(std::string_view(text).substr(1)) : parse_int("");
  if (!number || *number < 0) return wrong("a duration is written as +NS, not '" + text + "'");
  return *number;
}

template <class T>
Status take_into(TextWords& words, std::string_view key, T& place) {
  FATHOM_ASSIGN(const std::optional<std::int64_t> number, words.take_number(key));
  if (!number) return {};
  if (*number < std::numeric_limits<T>::min() || *number > std::numeric_limits<T>::max())
    return wrong(std::string(key) + " is out of range");
  place = static_cast<T>(*number);
  return {};
}

// Layers whose events lie inside each other on a thread.
bool nests(std::string_view layer) { return trace::is_in_threads(layer); }

// Everything the text says, until it is whole.
class TextReader {
 public:
  Status read(std::string_view text) {
    std::int64_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
      ++number;
      if (number == 1) {
        if (trim(line) != kTextRecordingMark)
          return wrong("the first line is not '" + std::string(kTextRecordingMark) + "'");
        continue;
      }
      Status status = add(line);
      if (!status) return std::move(status.error()).with("line " + std::to_string(number));
    }
    set_depths();
    return {};
  }

  Result<std::int64_t> write(const std::string& directory, std::uint64_t max_bytes) {
    const auto rows = static_cast<std::int64_t>(events_.rows() + counters_.rows.size() +
                                                intervals_.rows.size() + samples_.rows.size());
    FATHOM_ASSIGN(
        trace::RecordingWriter writer,
        trace::RecordingWriter::create(directory, std::move(manifest_), {.max_bytes = max_bytes}));
    writer.strings() = std::move(strings_);
    writer.stacks() = std::move(stacks_);
    FATHOM_TRY(writer.append(events_));
    FATHOM_TRY(writer.append(counters_));
    FATHOM_TRY(writer.append(intervals_));
    FATHOM_TRY(writer.append(samples_));
    for (trace::ProcessRow& row : processes_) writer.append(std::move(row));
    for (trace::ThreadRow& row : threads_) writer.append(std::move(row));
    FATHOM_TRY(writer.finish());
    return rows;
  }

 private:
  // A method for each kind of line takes the words that it knows; what is left over is a mistake.
  Status add(std::string_view line) {
    static constexpr std::pair<std::string_view, Status (TextReader::*)(TextWords&)> kLines[] = {
        {"run", &TextReader::add_run},
        {"machine", &TextReader::add_machine},
        {"layer", &TextReader::add_layer},
        {"loss", &TextReader::add_loss},
        {"process", &TextReader::add_process},
        {"thread", &TextReader::add_thread},
        {"event", &TextReader::add_event},
        {"counter", &TextReader::add_counter},
        {"interval", &TextReader::add_interval},
        {"sample", &TextReader::add_sample},
        {"uncovered", &TextReader::add_uncovered}};
    FATHOM_ASSIGN(TextWords words, TextWords::parse(line));
    if (words.empty()) return {};
    FATHOM_ASSIGN(const std::string first, words.word("kind"));
    for (const auto& [name, method] : kLines) {
      if (name != first) continue;
      FATHOM_TRY((this->*method)(words));
      return words.finish();
    }
    return wrong("no line begins with '" + escape_control(first) + "'");
  }

  std::string text(TextWords& words, std::string_view key) { return words.take(key).value_or(""); }
  std::uint32_t code(TextWords& words, std::string_view key) {
    return strings_.code_or_null(text(words, key));
  }

  Status add_run(TextWords& words) {
    manifest_.run_id = words.take("id").value_or(std::string(32, '0'));
    manifest_.origin = words.take("origin").value_or("run");
    manifest_.host.hostname = text(words, "host");
    const std::string command = text(words, "command");
    for (const std::string_view word : split(command, ' '))
      if (!word.empty()) manifest_.command.emplace_back(word);
    manifest_.cwd = text(words, "cwd");
    FATHOM_TRY(take_into(words, "start", manifest_.start_realtime_ns));
    FATHOM_ASSIGN(manifest_.duration_ns, words.take_number("duration"));
    FATHOM_ASSIGN(manifest_.exit_status, words.take_number("exit"));
    manifest_.state_reason = text(words, "partial");
    if (!manifest_.state_reason.empty()) manifest_.state = trace::RunState::kPartial;
    return {};
  }

  Status add_machine(TextWords& words) {
    HostFacts& host = manifest_.host;
    host.system = text(words, "system");
    host.kernel = text(words, "kernel");
    host.arch = text(words, "arch");
    host.cpu_model = text(words, "cpu");
    FATHOM_TRY(take_into(words, "cores", host.cores));
    std::int64_t memory = 0;
    FATHOM_TRY(take_into(words, "memory", memory));
    host.memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(memory, 0));
    return {};
  }

  Status add_layer(TextWords& words) {
    FATHOM_ASSIGN(const std::string name, words.word("layer"));
    FATHOM_ASSIGN(const std::string state, words.word("state"));
    trace::LayerState& layer = manifest_.layer(name);
    layer.state = state;
    layer.reason = text(words, "reason");
    return {};
  }

  Status add_loss(TextWords& words) {
    FATHOM_ASSIGN(const std::string layer, words.word("layer"));
    FATHOM_ASSIGN(const std::string reason, words.word("reason"));
    FATHOM_ASSIGN(const std::int64_t count, words.number("count"));
    manifest_.add_loss({layer == "-" ? "" : layer, reason, count});
    return {};
  }

  Status add_uncovered(TextWords& words) {
    trace::NotCovered one;
    FATHOM_ASSIGN(one.pid, words.number("pid"));
    FATHOM_ASSIGN(one.program, words.word("program"));
    FATHOM_ASSIGN(one.reason, words.word("reason"));
    one.what = text(words, "what");
    manifest_.add_not_covered(one);
    return {};
  }

  // What rows of processes and threads share.
  template <class Row>
  Status add_life(TextWords& words, Row& row) {
    row.host = words.take("host").value_or(manifest_.host.hostname);
    row.name = text(words, "name");
    row.container = text(words, "container");
    FATHOM_TRY(take_into(words, "start", row.start));
    FATHOM_TRY(take_into(words, "end", row.end));
    return take_into(words, "rank", row.rank);
  }

  Status add_process(TextWords& words) {
    trace::ProcessRow row;
    FATHOM_ASSIGN(row.pid, words.number("pid"));
    FATHOM_TRY(add_life(words, row));
    row.command = text(words, "command");
    row.rung = text(words, "rung");
    row.meta = words.take_all("meta.");
    FATHOM_TRY(take_into(words, "ppid", row.ppid));
    FATHOM_TRY(take_into(words, "exit", row.exit));
    processes_.push_back(std::move(row));
    return {};
  }

  Status add_thread(TextWords& words) {
    trace::ThreadRow row;
    FATHOM_ASSIGN(const std::string who, words.word("pid/tid"));
    FATHOM_ASSIGN(const Ids ids, ids_of(who));
    row.pid = ids.pid;
    row.tid = ids.tid;
    FATHOM_TRY(add_life(words, row));
    FATHOM_TRY(take_into(words, "ready", row.ready));
    threads_.push_back(std::move(row));
    return {};
  }

  // "7/8 TS": who and when, at the beginning of every row of measurements.
  template <class Row>
  Status add_origin(TextWords& words, Row& row) {
    FATHOM_ASSIGN(const std::string who, words.word("pid/tid"));
    FATHOM_ASSIGN(const Ids ids, ids_of(who));
    row.pid = ids.pid;
    row.tid = ids.tid;
    row.host = code(words, "host");
    FATHOM_ASSIGN(row.ts, words.number("time"));
    return {};
  }
  template <class Row>
  Status add_names(TextWords& words, Row& row) {
    FATHOM_ASSIGN(const std::string layer, words.word("layer"));
    FATHOM_ASSIGN(const std::string name, words.word("name"));
    row.layer = strings_.code(layer);
    row.name = strings_.code(name);
    manifest_.layer(layer);
    return {};
  }

  Status add_event(TextWords& words) {
    trace::EventRow row;
    FATHOM_TRY(add_origin(words, row));
    FATHOM_ASSIGN(row.dur, length_of(words));
    if (row.ts > std::numeric_limits<std::int64_t>::max() - row.dur)
      return wrong("time is too late");
    FATHOM_TRY(add_names(words, row));
    row.category = code(words, "category");
    row.file = code(words, "file");
    row.error = code(words, "error");
    row.entry = code(words, "entry");
    for (const auto& [key, place] : {std::pair{"rank", &row.rank}, std::pair{"depth", &row.depth},
                                     std::pair{"fd", &row.fd}, std::pair{"device", &row.device}})
      FATHOM_TRY(take_into(words, key, *place));
    for (const auto& [key, place] :
         {std::pair{"offset", &row.offset}, std::pair{"size", &row.size},
          std::pair{"bytes", &row.bytes}, std::pair{"ret", &row.ret},
          std::pair{"stream", &row.stream}, std::pair{"correlation", &row.correlation}})
      FATHOM_TRY(take_into(words, key, *place));
    for (const auto& [key, value] : words.take_all("args."))
      events_.args.add(strings_.code(key), value);
    events_.push(row);
    return {};
  }

  Status add_counter(TextWords& words) {
    trace::CounterRow row;
    FATHOM_TRY(add_origin(words, row));
    FATHOM_TRY(add_names(words, row));
    FATHOM_ASSIGN(const std::string value, words.word("value"));
    const char* const end = value.data() + value.size();
    if (std::from_chars(value.data(), end, row.value).ptr != end || !std::isfinite(row.value))
      return wrong("'" + escape_control(value) + "' is not a number");
    row.unit = code(words, "unit");
    counters_.rows.push_back(row);
    return {};
  }

  Status add_interval(TextWords& words) {
    trace::IntervalRow row;
    FATHOM_TRY(add_origin(words, row));
    FATHOM_ASSIGN(row.width, length_of(words));
    FATHOM_TRY(add_names(words, row));
    row.file = code(words, "file");
    row.peer = code(words, "peer");
    for (const auto& [key, place] :
         {std::pair{"calls", &row.calls}, std::pair{"errors", &row.errors},
          std::pair{"dur", &row.dur}, std::pair{"dur_min", &row.dur_min},
          std::pair{"dur_max", &row.dur_max}, std::pair{"bytes", &row.bytes}})
      FATHOM_TRY(take_into(words, key, *place));
    const std::optional<std::string> hist = words.take("hist");
    for (const std::string_view count :
         hist ? split(*hist, ',') : std::vector<std::string_view>()) {
      FATHOM_ASSIGN(const std::int64_t number, parse_int(count));
      row.hist.push_back(number);
    }
    intervals_.rows.push_back(std::move(row));
    return {};
  }

  Status add_sample(TextWords& words) {
    trace::SampleRow row;
    FATHOM_TRY(add_origin(words, row));
    FATHOM_ASSIGN(const std::string event, words.word("event"));
    row.event = strings_.code(event);
    row.weight = 1;
    FATHOM_TRY(take_into(words, "weight", row.weight));
    FATHOM_TRY(take_into(words, "cpu", row.cpu));
    FATHOM_TRY(take_into(words, "ready", row.ready));
    std::vector<trace::Frame> frames;
    const std::optional<std::string> stack = words.take("stack");
    for (const std::string_view frame :
         stack ? split(*stack, ';') : std::vector<std::string_view>())
      frames.push_back(frame_of(frame));
    row.stack = stacks_.stack(frames, strings_);
    samples_.rows.push_back(row);
    return {};
  }

  // "function!module@file:line"; all but the first may be missing.
  trace::Frame frame_of(std::string_view text) {
    trace::Frame frame;
    const std::size_t at = text.find('@');
    if (at != std::string_view::npos) {
      std::string_view file = text.substr(at + 1);
      const std::size_t colon = file.rfind(':');
      const Result<std::int64_t> line =
          parse_int(colon == std::string_view::npos ? "" : file.substr(colon + 1));
      if (line && *line >= 0 && *line <= std::numeric_limits<std::int32_t>::max()) {
        frame.line = static_cast<std::int32_t>(*line);
        file = file.substr(0, colon);
      }
      frame.file = strings_.code_or_null(file);
      text = text.substr(0, at);
    }
    const std::size_t bang = text.find('!');
    if (bang != std::string_view::npos) {
      frame.module = strings_.code_or_null(text.substr(bang + 1));
      text = text.substr(0, bang);
    }
    frame.function = strings_.code_or_null(text);
    return frame;
  }

  // Depths that the text leaves out come from the times.
  void set_depths() {
    using Thread = std::tuple<std::uint32_t, std::int32_t, std::int32_t>;
    std::map<Thread, Nesting> threads;
    const auto thread_of = [&](std::size_t at) -> Nesting& {
      const trace::EventRow row = events_.row(at);
      return threads[{row.host, row.pid, row.tid}];
    };
    const auto counts = [&](std::size_t at) { return nests(strings_.view(events_.layer[at])); };
    for (std::size_t at = 0; at < events_.rows(); ++at) {
      const std::string_view layer = strings_.view(events_.layer[at]);
      const bool outer = trace::is_code(layer);
      const NestingRank inner = layer == "stdio" ? NestingRank::kStdio : NestingRank::kPosix;
      if (counts(at))
        thread_of(at).add(events_.ts[at], events_.dur[at], outer ? NestingRank::kApp : inner);
    }
    for (auto& [thread, nesting] : threads) nesting.finish();
    for (std::size_t at = 0; at < events_.rows(); ++at) {
      if (!counts(at)) continue;
      const std::int32_t depth = thread_of(at).next();
      if (events_.depth[at] == kNull32) events_.depth[at] = depth;
    }
  }

  trace::Manifest manifest_;
  trace::Strings strings_;
  trace::StackTable stacks_;
  trace::EventBatch events_;
  trace::CounterBatch counters_;
  trace::IntervalBatch intervals_;
  trace::SampleBatch samples_;
  std::vector<trace::ProcessRow> processes_;
  std::vector<trace::ThreadRow> threads_;
};

Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  if (files.size() != 1)
    return Error{Code::kInvalid, "a recording as text is one file", "import each file by itself"};
  FATHOM_ASSIGN(const std::string text, read_file(files.front()));
  Result<std::int64_t> rows = write_text_recording(text, directory, options.max_bytes);
  if (!rows) return std::move(rows.error()).with(files.front());
  ImportOutcome outcome;
  outcome.rows = *rows;
  return outcome;
}

}  // namespace

Result<std::int64_t> write_text_recording(std::string_view text, const std::string& directory,
                                          std::uint64_t max_bytes) {
  TextReader reader;
  FATHOM_TRY(reader.read(text));
  return reader.write(directory, max_bytes);
}

Status check_text_recording(std::string_view text) { return TextReader().read(text); }

extern const ImporterDef kTextImporter;
const ImporterDef kTextImporter = {
    .name = "text",
    .summary = "a recording written by hand, as Fathom's tests use it (docs/formats/foreign.md)",
    .matches = [](std::string_view head) { return head.starts_with(kTextRecordingMark); },
    .write = write,
};

}  // namespace fathom::analysis
