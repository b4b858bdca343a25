// SPDX-License-Identifier: MIT
// Lines and counters exactly as Alnair's scripts parse them, kept apart from where they are
// written, since they are also made while a program runs.
#include "render/export/alnair_log.h"

#include <iterator>

#include "base/text.h"
#include "render/export/json_fields.h"

namespace fathom::render {
namespace {

// Its names for functions, in the order of its log. The last two are of the run-time library and
// stand above the driver's; they are recorded where libpfinterpose.so was loaded.
struct Row {
  std::string_view name;
  std::string_view function;
  bool in_timeline;
};
constexpr Row kRowNames[] = {
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
static_assert(std::size(kRowNames) == AlnairMetrics::kRows);
constexpr std::size_t kLaunch = 3;
constexpr std::int64_t kMicrosecond = 1000;

std::string_view argument_of(const ExportEvent& event, std::string_view key) {
  for (const auto& [name, value] : event.args) {
    if (name == key) return value;
  }
  return {};
}

// kRows where the log has no such row.
std::size_t row_of(const ExportEvent& event) {
  if (event.layer != "cuda") return AlnairMetrics::kRows;
  if (!argument_of(event, "kernel").empty()) return kLaunch;
  std::size_t row = 0;
  while (row < std::size(kRowNames) && kRowNames[row].function != event.name) row++;
  return row;
}

// What the memory of devices grows by.
std::int64_t growth_of(const ExportEvent& event) {
  if (event.layer != "cuda" || !event.error.empty()) return 0;
  if (argument_of(event, "memory") != "device") return 0;
  const std::int64_t size = event.size.value_or(0);
  return event.name.starts_with("cuMemAlloc") ? size : -size;
}

}  // namespace

void AlnairMetrics::add(const ExportEvent& event) {
  in_use_ += growth_of(event);
  const std::size_t row = row_of(event);
  if (row == kRows) return;
  counts_[row]++;
  times_[row] += event.dur;
}

std::string AlnairMetrics::text() const {
  std::string text = "name:mem_used,count:";
  append_number(text, in_use_);
  text += '\n';
  for (std::size_t row = 0; row < kRows; row++) {
    text += "name:" + std::string(kRowNames[row].name) + ",count:";
    append_number(text, counts_[row]);
    text += ",burst:";
    append_number(text, times_[row] / kMicrosecond);
    text += '\n';
  }
  return text;
}

std::string AlnairMetrics::state() const {
  std::string text;
  append_number(text, in_use_);
  for (std::size_t row = 0; row < kRows; row++) {
    append_number(text += ' ', counts_[row]);
    append_number(text += ' ', times_[row]);
  }
  return text;
}

AlnairMetrics AlnairMetrics::from_state(std::string_view state) {
  AlnairMetrics metrics;
  const std::vector<std::string_view> words = split(state, ' ');
  const auto number = [&](std::size_t at) {
    const Result<std::int64_t> read =
        at < words.size() ? parse_int(words[at]) : Result<std::int64_t>(0);
    return read ? *read : 0;
  };
  metrics.in_use_ = number(0);
  for (std::size_t row = 0; row < kRows; row++) {
    metrics.counts_[row] = number(1 + 2 * row);
    metrics.times_[row] = number(2 + 2 * row);
  }
  return metrics;
}

void append_alnair_line(const ExportEvent& event, std::int64_t start_ns, std::string& to) {
  const std::size_t row = row_of(event);
  if (row == AlnairMetrics::kRows || !kRowNames[row].in_timeline) return;
  const std::string_view kind = argument_of(event, "kind");
  to += "name:" + std::string(kRowNames[row].name) + ", start:";
  append_number(to, start_ns + event.ts);
  to += ", burst:";
  append_number(to, event.dur / kMicrosecond);
  to += ", bytes:";
  append_number(to, event.size.value_or(0));
  to += ", kind:" + (kind.empty() ? "-1" : escape_control(kind)) + "\n";
}

}  // namespace fathom::render
