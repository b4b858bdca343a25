// SPDX-License-Identifier: MIT
// The two logs of Alnair's CUDA interposer, for scripts that read them: metrics.log, a line for
// each function that it knew, and timeline.log, a line for each call. Durations are those of the
// calls on the host, in whole microseconds (`burst`), as they were there; what was counted wrongly
// there is counted right: calls and not look-ups, memory when the call worked, launches of every
// form.
#include <array>
#include <string>

#include "render/export/exporter.h"
#include "render/export/json_fields.h"

namespace fathom::render {
namespace {

// Its names for the driver's functions, in the order of its log. Those of the run-time library are
// in the log too; a recording has the driver's functions alone, which those call.
struct Row {
  std::string_view name;
  std::string_view function;
  bool in_timeline;
};
constexpr Row kRows[] = {
    {"cuInit", "cuInit", true},
    {"cuMemAlloc", "cuMemAlloc", true},
    {"cuMemFree", "cuMemFree", true},
    {"cuLaunchKernel", "cuLaunchKernel", false},
    {"cuMemcpyH2D", "cuMemcpyHtoD", true},
    {"cuMemcpyD2H", "cuMemcpyDtoH", true},
    {"cuGetProcAddress", "cuGetProcAddress", false},
    {"cuMemcpyH2D_ASYNC", "cuMemcpyHtoDAsync", true},
    {"cudaMemcpy", "cudaMemcpy", true},
    {"cudaMemcpyAsync", "cudaMemcpyAsync", true},
};
constexpr std::size_t kLaunch = 3;
constexpr std::int64_t kMicrosecond = 1000;

std::string_view argument_of(const ExportEvent& event, std::string_view key) {
  for (const auto& [name, value] : event.args) {
    if (name == key) return value;
  }
  return {};
}

// size() where the log has no such row.
std::size_t row_of(const ExportEvent& event) {
  if (event.layer != "cuda") return std::size(kRows);
  if (!argument_of(event, "kernel").empty()) return kLaunch;
  std::size_t row = 0;
  while (row < std::size(kRows) && kRows[row].function != event.name) row++;
  return row;
}

// What the memory of devices grows by.
std::int64_t growth_of(const ExportEvent& event) {
  if (event.layer != "cuda" || !event.error.empty()) return 0;
  if (argument_of(event, "memory") != "device") return 0;
  const std::int64_t size = event.size.value_or(0);
  return event.name.starts_with("cuMemAlloc") ? size : -size;
}

Status write_metrics(EventStream& from, ByteSink& to) {
  std::array<std::int64_t, std::size(kRows)> counts{};
  std::array<std::int64_t, std::size(kRows)> times{};
  std::int64_t in_use = 0;
  FATHOM_TRY(from.events(EventOrder::kAny, [&](const ExportEvent& event) -> Status {
    in_use += growth_of(event);
    const std::size_t row = row_of(event);
    if (row == counts.size()) return {};
    counts[row]++;
    times[row] += event.dur;
    return {};
  }));
  std::string text = "name:mem_used,count:";
  append_number(text, in_use);
  text += '\n';
  for (std::size_t row = 0; row < std::size(kRows); row++) {
    text += "name:" + std::string(kRows[row].name) + ",count:";
    append_number(text, counts[row]);
    text += ",burst:";
    append_number(text, times[row] / kMicrosecond);
    text += '\n';
  }
  return to.write(text);
}

Status write_timeline(EventStream& from, ByteSink& to) {
  SinkBuffer buffer(to);
  const std::int64_t start = from.start_realtime_ns();
  FATHOM_TRY(from.events(EventOrder::kByThread, [&](const ExportEvent& event) -> Status {
    const std::size_t row = row_of(event);
    if (row == std::size(kRows) || !kRows[row].in_timeline) return {};
    std::string& out = buffer.text();
    out += "name:" + std::string(kRows[row].name) + ", start:";
    append_number(out, start + event.ts);
    out += ", burst:";
    append_number(out, event.dur / kMicrosecond);
    out += ", bytes:";
    append_number(out, event.size.value_or(0));
    out += ", kind:-1\n";
    return buffer.flush_if_large();
  }));
  return buffer.flush();
}

constexpr ExporterPart kParts[] = {{"metrics.log", write_metrics},
                                   {"timeline.log", write_timeline}};

}  // namespace

extern const ExporterDef kAlnairExporter;
const ExporterDef kAlnairExporter = {
    .name = "alnair",
    .summary = "a folder with metrics.log and timeline.log, as Alnair's CUDA interposer wrote them",
    .parts = kParts,
};

}  // namespace fathom::render
