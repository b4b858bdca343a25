// SPDX-License-Identifier: MIT
// What threads did, summed up while samples come, for the summary when the program ends: reading it
// from the tables would have to wait for packing. Only the innermost frame of a stack is kept: it
// is the function that ran.
#include "trace/rows/sampled_time.h"

#include <algorithm>

#include "base/sum.h"
#include "trace/rows/frame_names.h"

namespace fathom::trace {

std::int64_t lifetime_of(const std::vector<ThreadRow>& threads, std::int64_t until) {
  std::int64_t sum = 0;
  for (const ThreadRow& thread : threads) {
    if (thread.start == kNull) continue;
    const std::int64_t end = thread.end == kNull ? until : thread.end;
    add_to(sum, std::max<std::int64_t>(0, end - thread.start));
  }
  return sum;
}

void SampledTime::add(const SampleBatch& samples, const FrameBatch& frames,
                      const Strings& strings) {
  for (std::size_t i = 0; i < frames.rows.size(); i++) {
    const FrameRow& row = frames.rows[i];
    const bool is_leaf = i + 1 == frames.rows.size() || frames.rows[i + 1].stack != row.stack;
    if (is_leaf) add_leaf(row.stack, row.frame, strings);
  }
  for (const SampleRow& row : samples.rows) {
    const std::string_view event = strings.view(row.event);
    if (event == kOffCpu) add_off(row);
    if (event == kOnCpu) ran_[row.stack] += row.weight;
  }
}

void SampledTime::add_leaf(std::int64_t stack, const Frame& frame, const Strings& strings) {
  Frame own = frame;
  for (std::uint32_t* code : {&own.function, &own.module, &own.file, &own.build_id})
    *code = strings_.code_or_null(strings.view(*code));
  const auto [place, is_new] = places_.try_emplace(
      {own.function, own.module, own.build_id, own.offset}, leaves_.rows.size());
  if (is_new) leaves_.rows.push_back({static_cast<std::int64_t>(place->second), 0, own});
  leaf_of_[stack] = place->second;
}

void SampledTime::add_off(const SampleRow& row) {
  Off& off = off_[{row.pid, row.tid}];
  const std::int64_t ready = std::max<std::int64_t>(0, row.ready);
  off.asleep += row.weight - ready;
  off.ready += ready;
}

ThreadTime SampledTime::told(const std::vector<ThreadRow>& threads, std::int64_t until,
                             const NameResolver& resolver) {
  ThreadTime time;
  time.life = lifetime_of(threads, until);
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> counted;
  for (const ThreadRow& thread : threads)
    counted[{thread.pid, thread.tid}] += std::max<std::int64_t>(0, thread.ready);
  for (const auto& [thread, off] : off_) {
    // Who is woken has to wait for a CPU: stretches do not tell that, but the kernel counts it.
    const std::int64_t late = std::clamp<std::int64_t>(counted[thread] - off.ready, 0,
                                                       std::max<std::int64_t>(0, off.asleep));
    time.waiting += off.asleep - late;
    time.ready += off.ready + late;
  }
  add_functions(resolver, time);
  return time;
}

void SampledTime::add_functions(const NameResolver& resolver, ThreadTime& time) {
  FrameBatch named = leaves_;
  name_frames(resolver, named, strings_);
  std::vector<std::uint32_t> names(leaves_.rows.size(), kNoString);
  // Of inlined functions the innermost comes last.
  for (const FrameRow& row : named.rows)
    names[static_cast<std::size_t>(row.stack)] = row.frame.function;
  std::map<std::string, std::int64_t> functions;
  for (const auto& [stack, ns] : ran_) {
    time.running += ns;
    const auto leaf = leaf_of_.find(stack);
    if (leaf != leaf_of_.end()) functions[std::string(strings_.view(names[leaf->second]))] += ns;
  }
  time.functions.assign(functions.begin(), functions.end());
  std::ranges::stable_sort(time.functions, std::ranges::greater(),
                           &std::pair<std::string, std::int64_t>::second);
}

}  // namespace fathom::trace
