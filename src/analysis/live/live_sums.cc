// SPDX-License-Identifier: MIT
// Rows that the recorder itself made. Parquet files are read in packed_sums.cc.
#include "analysis/live/live_sums.h"

#include <algorithm>
#include <utility>

#include "base/sum.h"
#include "trace/rows/frame_names.h"

namespace fathom::analysis {
namespace {

constexpr std::string_view kNoCpu = "no CPU was free";

// What of so many ns that end then lies behind a moment.
TimeSum since(std::int64_t moment, std::int64_t end, std::int64_t ns) {
  return {ns, std::clamp<std::int64_t>(minus(end, moment), 0, std::max<std::int64_t>(0, ns))};
}

}  // namespace

void LiveSums::learn(std::int64_t stack, std::span<const StackFrame> frames) {
  const StackWords words = words_of(frames);
  stacks_[stack] = {names_.code(words.ran), names_.code(words.cause), names_.code(words.wait)};
}

void LiveSums::learn_frames(const trace::FrameBatch& frames, const trace::Strings& strings) {
  std::vector<StackFrame> stack;
  for (std::size_t i = 0; i < frames.rows.size(); i++) {
    const trace::FrameRow& row = frames.rows[i];
    stack.push_back({strings.view(row.frame.function), strings.view(row.frame.module)});
    const bool is_last = i + 1 == frames.rows.size() || frames.rows[i + 1].stack != row.stack;
    if (!is_last) continue;
    learn(row.stack, stack);
    stack.clear();
  }
}

void LiveSums::add_sample(const Sample& sample) {
  const bool ran = sample.event == trace::kOnCpu;
  if (!ran && sample.event != trace::kOffCpu) return;
  sampled_ = true;
  const auto found = stacks_.find(sample.stack);
  const Words words = found != stacks_.end() ? found->second : Words{};
  if (ran)
    return host_.add(TimeKey{sample.pid, trace::kNoString, words.ran}, sample.weight, names_);
  const std::uint32_t cause = words.cause != trace::kNoString ? words.cause : names_.code("other");
  const TimeSum asleep{minus(sample.weight.total, sample.ready.total),
                       minus(sample.weight.recent, sample.ready.recent)};
  if (asleep.total > 0) host_.add(TimeKey{sample.pid, cause, words.wait}, asleep, names_);
  if (sample.ready.total > 0)
    host_.add(TimeKey{sample.pid, names_.code("ready"), names_.code(kNoCpu)}, sample.ready, names_);
}

void LiveSums::add_told(const trace::CounterBatch& counters, const trace::Strings& strings,
                        LatestCounters& to) {
  for (const trace::CounterRow& row : counters.rows)
    to.add(strings.view(row.name),
           {.unit = std::string(strings.view(row.unit)), .ts = row.ts, .value = row.value});
}

void LiveSums::add_counters(const trace::CounterBatch& counters, const trace::Strings& strings) {
  for (const trace::CounterRow& row : counters.rows) {
    host_.reach(row.ts);
    const std::string_view name = strings.view(row.name);
    if (row.pid == trace::kNull32)
      host_counters_.add(
          name, {.unit = std::string(strings.view(row.unit)), .ts = row.ts, .value = row.value});
    if (row.pid == trace::kNull32 || strings.view(row.layer) != "resource") continue;
    if (name == "cpu_user") usage_[row.pid].user_s = row.value;
    if (name == "cpu_system") usage_[row.pid].system_s = row.value;
    if (name == "rss") usage_[row.pid].memory_bytes = static_cast<std::int64_t>(row.value);
  }
}

void LiveSums::add_host(trace::HostRows& rows, trace::Strings& strings,
                        const trace::NameResolver& names) {
  trace::Decoder::Sums sums;
  add_sums(rows, strings, sums);
  host_.add(sums.summary, strings, names_);
  trace::name_frames(names, rows.frames, strings);
  learn_frames(rows.frames, strings);
  for (const trace::SampleRow& row : rows.samples.rows) {
    const std::string_view event = strings.view(row.event);
    const std::int64_t end = event == trace::kOffCpu ? plus(row.ts, row.weight) : row.ts;
    const std::int64_t ready =
        std::clamp<std::int64_t>(row.ready, 0, std::max<std::int64_t>(0, row.weight));
    // A sample on the CPU stands for what was before it.
    add_sample(
        {row.pid, event, row.stack, since(since_, end, row.weight), since(since_, end, ready)});
    host_.reach(end);
  }
  for (const trace::IntervalRow& row : rows.intervals.rows) host_.reach(plus(row.ts, row.width));
  add_counters(rows.counters, strings);
}

}  // namespace fathom::analysis
