// SPDX-License-Identifier: MIT
// Chrome's trace event format, as Chrome, Kineto (PyTorch) and many others write it; .json and
// .json.gz. Files are read twice. Memory: a few bytes an event.
#include <optional>

#include "analysis/import/chrome_event.h"
#include "analysis/import/chrome_rows.h"
#include "analysis/import/chrome_spans.h"
#include "analysis/import/import.h"
#include "analysis/import/json_events.h"
#include "analysis/import/json_head.h"
#include "analysis/import/pfw_line.h"
#include "base/text.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kRowsPerAppend = 1 << 16;
constexpr std::int64_t kObjectsPerProgress = 1 << 14;
// Microseconds since 1970 are larger than this since 2001; what is smaller counts from elsewhere.
constexpr std::int64_t kSinceEpochNs = 1'000'000'000'000'000'000;

class ChromeImport {
 public:
  ChromeImport(std::span<const std::string> files, const ImportOptions& options)
      : files_(files), options_(options) {}

  Status gather() {
    for (const std::string& path : files_) {
      ChromeSpans spans([&](const ChromeSpan& span) { facts_.add(span); });
      FATHOM_ASSIGN(JsonEvents reader, JsonEvents::open(path));
      FATHOM_TRY(each(reader, [&](const ChromeEvent& event) { return count(event, spans); }));
      total_.damaged_lines += reader.damaged();
      total_.damaged_parts += reader.damaged_parts();
      total_.leave_out(JsonEvents::kTooLong, reader.too_long());
      for (const auto& [reason, number] : spans.left_out()) total_.left_out[reason] += number;
      learn(reader);
    }
    if (facts_.empty()) return nothing_found(files_.front(), total_);
    facts_.finish();
    total_.rows = facts_.rows();
    return {};
  }

  Status write(const std::string& directory) {
    FATHOM_ASSIGN(
        trace::RecordingWriter writer,
        trace::RecordingWriter::create(directory, manifest(), {.max_bytes = options_.max_bytes}));
    ChromeRows rows(facts_, writer.strings());
    for (const std::string& path : files_) FATHOM_TRY(write_file(path, rows, writer));
    for (trace::ProcessRow& row : facts_.processes()) writer.append(std::move(row));
    for (trace::ThreadRow& row : facts_.threads()) writer.append(std::move(row));
    tell_losses(total_, writer.manifest());
    return writer.finish();
  }

  [[nodiscard]] const ImportOutcome& outcome() const { return total_; }

 private:
  // `use` with each object that is an event. It says whether it is sound.
  template <class Use>
  Status each(JsonEvents& reader, Use use) {
    while (true) {
      FATHOM_ASSIGN(const std::optional<std::string_view> object, reader.next());
      if (!object) return {};
      if (++objects_ % kObjectsPerProgress == 0 && options_.on_progress)
        options_.on_progress(objects_);
      const bool sound = parser_.parse(*object, event_);
      use_if(sound, use);
    }
  }
  template <class Use>
  void use_if(bool sound, Use use) {
    if (sound) sound = use(event_);
    if (!sound && counting_) ++total_.damaged_lines;
  }

  // The first pass: what each object is, and what finds no place.
  bool count(const ChromeEvent& event, ChromeSpans& spans) {
    if (event.phase == 'M') {
      facts_.add_name(event);
      return true;
    }
    if (event.phase == 'C') {
      if (event.ts && !event.name.empty()) facts_.add_counter(event);
      return event.ts && !event.name.empty();
    }
    // Arrows of our own exports: the events that they join say the same in `correlation`.
    if ((event.phase == 's' || event.phase == 'f') && event.category == "correlation") return true;
    const ChromeSpans::Outcome outcome = spans.add(event);
    if (outcome == ChromeSpans::Outcome::kOther)
      ++total_.left_out[std::string("event of phase ") +
                        escape_control(std::string_view(&event.phase, 1))];
    return outcome != ChromeSpans::Outcome::kDamaged;
  }

  // Kineto counts its times from here.
  void learn(const JsonEvents& reader) {
    const auto base = reader.beside().find("baseTimeNanoseconds");
    if (base == reader.beside().end() || base_) return;
    base_ = number_of(base->second);
  }

  Status write_file(const std::string& path, ChromeRows& rows, trace::RecordingWriter& writer) {
    counting_ = false;
    trace::EventBatch events;
    trace::CounterBatch counters;
    Status status;
    ChromeSpans spans([&](const ChromeSpan& span) {
      rows.add(span, events);
      if (status && events.rows() >= kRowsPerAppend) status = writer.append(events);
    });
    FATHOM_ASSIGN(JsonEvents reader, JsonEvents::open(path));
    FATHOM_TRY(each(reader, [&](const ChromeEvent& event) {
      if (event.phase == 'C' && event.ts && !event.name.empty()) rows.add_counter(event, counters);
      if (event.phase != 'C' && event.phase != 'M') spans.add(event);
      return true;
    }));
    FATHOM_TRY(std::move(status));
    FATHOM_TRY(writer.append(events));
    return writer.append(counters);
  }

  trace::Manifest manifest() {
    trace::Manifest manifest;
    manifest.origin = "import";
    manifest.duration_ns = facts_.end() - facts_.start();
    if (base_ && *base_ > 0 && *base_ < 4 * kSinceEpochNs) {
      manifest.start_realtime_ns = *base_ + facts_.start();
    } else if (facts_.start() >= kSinceEpochNs) {
      manifest.start_realtime_ns = facts_.start();
    }
    manifest.facts["imported_from"] = join({files_.begin(), files_.end()}, " ");
    return manifest;
  }

  std::span<const std::string> files_;
  const ImportOptions& options_;
  ChromeParser parser_;
  ChromeEvent event_;
  ChromeFacts facts_;
  ImportOutcome total_;
  std::optional<std::int64_t> base_;
  std::int64_t objects_ = 0;
  bool counting_ = true;  // the first pass
};

Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  ChromeImport import(files, options);
  FATHOM_TRY(import.gather());
  FATHOM_TRY(import.write(directory));
  return import.outcome();
}

bool matches(std::string_view head) {
  const JsonHead json = json_head(head);
  if (json.kind == JsonHead::Kind::kObject) return json.names("traceEvents");
  return json.kind == JsonHead::Kind::kArray && json.names("ph");
}

}  // namespace

extern const ImporterDef kChromeImporter;
const ImporterDef kChromeImporter = {
    .name = "chrome",
    .summary =
        "trace events as JSON, written by Chrome, Kineto (PyTorch) and others: .json, .json.gz",
    .matches = matches,
    .write = write,
};

}  // namespace fathom::analysis
