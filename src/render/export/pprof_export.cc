// SPDX-License-Identifier: MIT
// pprof's protobuf (profile.proto), which `go tool pprof` reads: every distinct stack once, with
// calls and self time, and for samples their number and weight. Numbers of fields are those of its
// public schema; names stand beside them.
#include <protozero/pbf_writer.hpp>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/sample_events.h"
#include "render/export/exporter.h"
#include "render/export/stacks.h"

namespace fathom::render {
namespace {

namespace field {
// Profile
constexpr protozero::pbf_tag_type kSampleType = 1, kSample = 2, kLocation = 4, kFunction = 5,
                                  kStringTable = 6, kTimeNanos = 9, kDurationNanos = 10,
                                  kDefaultSampleType = 14;
// ValueType
constexpr protozero::pbf_tag_type kType = 1, kUnit = 2;
// Sample, Label
constexpr protozero::pbf_tag_type kLocationId = 1, kValue = 2, kLabel = 3, kKey = 1, kStr = 2,
                                  kNum = 3;
// Location, Line, Function
constexpr protozero::pbf_tag_type kId = 1, kLine = 4, kFunctionId = 1, kLineNumber = 2, kName = 2,
                                  kSystemName = 3, kFileName = 4;
}  // namespace field

// Index 0 is the empty text, as the format demands.
class StringTable {
 public:
  StringTable() { (void)id(""); }
  std::int64_t id(const std::string& text) {
    const auto [found, is_new] = ids_.try_emplace(text, static_cast<std::int64_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string, std::int64_t> ids_;
  std::vector<std::string> texts_;
};

// Samples go out at once; strings and functions at the end, where all are known: readers take
// fields in any order.
class PprofWriter {
 public:
  PprofWriter(ByteSink& sink, const StackProfile& profile) : buffer_(sink), profile_(profile) {}

  Status write(std::int64_t start_ns) {
    add_types();
    for (const auto& [key, stacks] : profile_.stacks) FATHOM_TRY(add(key, stacks));
    FATHOM_TRY(add_functions());
    for (const std::string& text : strings_.texts()) {
      protozero::pbf_writer(buffer_.text()).add_string(field::kStringTable, text);
      FATHOM_TRY(buffer_.flush_if_large());
    }
    protozero::pbf_writer profile(buffer_.text());
    profile.add_int64(field::kTimeNanos, start_ns);
    profile.add_int64(field::kDurationNanos, profile_.end);
    return buffer_.flush();
  }

 private:
  // Two values for calls, and two for each kind of sample.
  void add_types() {
    for (const auto& [key, stacks] : profile_.stacks) columns_.try_emplace(key.event, 0);
    std::size_t column = 0;
    for (auto& [event, at] : columns_) {
      at = column;
      column += 2;
      const bool calls = event.empty();
      add_type(calls ? "calls" : event + " samples", "count");
      add_type(calls ? "time" : event,
               calls || analysis::is_time_event(event) ? "nanoseconds" : "count");
    }
    if (columns_.contains("")) {
      protozero::pbf_writer(buffer_.text())
          .add_int64(field::kDefaultSampleType, strings_.id("time"));
    }
  }

  void add_type(const std::string& type, const std::string& unit) {
    protozero::pbf_writer profile(buffer_.text());
    protozero::pbf_writer value(profile, field::kSampleType);
    value.add_int64(field::kType, strings_.id(type));
    value.add_int64(field::kUnit, strings_.id(unit));
  }

  Status add(const ProfileKey& key, const StackSums& stacks) {
    const ExportNumber pid = key.pid < 0 ? ExportNumber() : key.pid;
    const std::int64_t program = strings_.id(profile_.program(key));
    std::vector<std::int64_t> values(2 * columns_.size(), 0);
    const std::size_t column = columns_.at(key.event);
    for (std::uint32_t node = 0; node < stacks.sums.size(); ++node) {
      const StackSums::Sum& sum = stacks.sums[node];
      if (sum.count == 0) continue;
      values[column] = sum.count;
      values[column + 1] = sum.amount;
      add_sample(stacks.tree.path(node), values, program, pid);
      FATHOM_TRY(buffer_.flush_if_large());
    }
    return {};
  }

  void add_sample(const std::vector<std::uint32_t>& path, const std::vector<std::int64_t>& values,
                  std::int64_t program, const ExportNumber& pid) {
    protozero::pbf_writer profile(buffer_.text());
    protozero::pbf_writer sample(profile, field::kSample);
    std::vector<std::uint64_t> locations;
    for (const std::uint32_t frame : path) locations.push_back(frame + 1);
    sample.add_packed_uint64(field::kLocationId, locations.begin(), locations.end());
    sample.add_packed_int64(field::kValue, values.begin(), values.end());
    {
      protozero::pbf_writer label(sample, field::kLabel);
      label.add_int64(field::kKey, strings_.id("program"));
      label.add_int64(field::kStr, program);
    }
    if (!pid) return;
    protozero::pbf_writer label(sample, field::kLabel);
    label.add_int64(field::kKey, strings_.id("pid"));
    label.add_int64(field::kNum, *pid);
  }

  // A location for each function: nothing finer is known of calls.
  Status add_functions() {
    std::uint64_t id = 0;
    for (const FrameInfo& frame : profile_.frames.frames()) {
      ++id;
      protozero::pbf_writer profile(buffer_.text());
      {
        protozero::pbf_writer location(profile, field::kLocation);
        location.add_uint64(field::kId, id);
        protozero::pbf_writer line(location, field::kLine);
        line.add_uint64(field::kFunctionId, id);
        if (frame.line > 0) line.add_int64(field::kLineNumber, frame.line);
      }
      {
        protozero::pbf_writer function(profile, field::kFunction);
        function.add_uint64(field::kId, id);
        function.add_int64(field::kName, strings_.id(frame.text));
        function.add_int64(field::kSystemName, strings_.id(frame.text));
        function.add_int64(field::kFileName, strings_.id(frame.file));
      }
      FATHOM_TRY(buffer_.flush_if_large());
    }
    return {};
  }

  SinkBuffer buffer_;
  const StackProfile& profile_;
  StringTable strings_;
  std::map<std::string, std::size_t> columns_;  // event ("": calls) to the first of its two values
};

Status write(EventStream& from, ByteSink& to) {
  StackProfile profile;
  FATHOM_TRY(profile.load(from));
  return PprofWriter(to, profile).write(from.start_realtime_ns());
}

}  // namespace

extern const ExporterDef kPprofExporter;
const ExporterDef kPprofExporter = {
    .name = "pprof",
    .summary = "stacks with calls and self time, for 'go tool pprof'; always compressed",
    .gzip = Gzip::kAlways,
    .by_thread = true,
    .write = write,
};

}  // namespace fathom::render
