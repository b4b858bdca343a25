// SPDX-License-Identifier: MIT
// A frame's address tells little by itself: a function that is called where another has just ended
// gets a frame at the same place. So the function comes from the instruction alone, and the frame
// is what leads to its callers.
#include "sources/perf/python/stack_merge.h"

#include <algorithm>
#include <memory>

namespace fathom::sources {
namespace {

constexpr std::uint64_t kUnit = 2;  // bytes of an instruction

// Just behind the frame. 0: its size is not known.
std::uint64_t end_of(const PythonFrame& frame) {
  return frame.code->frame_bytes == 0 ? 0 : frame.address + frame.code->frame_bytes;
}

// Frames of calls lie one behind the other. Elsewhere are those of generators, and those for which
// a piece of memory had no room.
bool may_have_called(const PythonFrame& frame, std::uint64_t inner) {
  constexpr std::uint64_t kPiece = 16384;
  const std::uint64_t end = end_of(frame);
  return end == 0 || end == inner || inner < frame.address || inner - frame.address > kPiece;
}

}  // namespace

StackMerge::StackMerge(FrameReader& reader, CodeObjects& codes, LoopPlaces& places,
                       const PythonStack& live)
    : reader_(reader),
      codes_(codes),
      places_(places),
      live_(live),
      has_anchors_(std::ranges::any_of(
          live.frames, [](const PythonFrame& frame) { return frame.anchor != 0; })) {}

StackMerge::Entry StackMerge::entry_at(std::size_t begin) const {
  Entry entry{begin, begin};
  while (entry.end < live_.frames.size())
    if (live_.frames[entry.end++].ends_entry) break;
  return entry;
}

std::optional<StackMerge::Entry> StackMerge::entry_of(const SampledLoop& loop,
                                                      const Words& words) const {
  for (std::size_t begin = next_; begin < live_.frames.size();) {
    const Entry entry = entry_at(begin);
    const std::uint64_t anchor = live_.frames[entry.end - 1].anchor;
    const bool is_anchored = anchor >= loop.begin && anchor < loop.end;
    const bool is_there = has_anchors_ ? is_anchored : seen_frame(loop, words, entry) != nullptr;
    if (is_there) return entry;
    begin = entry.end;
  }
  return std::nullopt;
}

std::optional<std::size_t> StackMerge::live_frame(const Entry& entry, std::uint64_t address) const {
  for (std::size_t i = entry.begin; i < entry.end; i++)
    if (live_.frames[i].address == address) return i;
  return std::nullopt;
}

// The innermost one: words of those that it called are there no longer than the words of its own.
const PythonFrame* StackMerge::seen_frame(const SampledLoop& loop, const Words& words,
                                          const Entry& entry) const {
  for (std::size_t i = entry.begin; i < entry.end; i++) {
    const PythonFrame& frame = live_.frames[i];
    const auto is_it = [&](const SampledWord& word) {
      return word.value == frame.address &&
             (word.in_register() || !loop.is_kept_for_caller(word.value));
    };
    if (std::ranges::any_of(words, is_it)) return &frame;
  }
  return nullptr;
}

// Of a function that calls itself there are several: then places count that are known.
std::optional<std::size_t> StackMerge::live_frame_of(const PythonCode& code, const Words& words,
                                                     const Entry& entry) const {
  std::optional<std::size_t> innermost;
  for (const SampledWord& word : words) {
    const auto index = live_frame(entry, word.value);
    if (!index || live_.frames[*index].code->address != code.address) continue;
    if (places_.frame.is_proven(word.place)) return index;
    innermost = std::min(innermost.value_or(*index), *index);
  }
  return innermost;
}

void StackMerge::learn_frame_places(const PythonFrame& frame, const Words& words,
                                    const Entry& entry) {
  std::size_t same = 0;
  for (std::size_t i = entry.begin; i < entry.end; i++)
    same += live_.frames[i].code->address == frame.code->address ? 1 : 0;
  if (same != 1) return;
  for (const SampledWord& word : words) {
    if (!live_frame(entry, word.value)) continue;
    word.value == frame.address ? places_.frame.found(word.place)
                                : places_.frame.missed(word.place);
  }
}

void StackMerge::add(const CodePointer& code, std::uint64_t instruction) {
  merged_.push_back({.native = 0, .code = code, .line = code->line(instruction)});
}

void StackMerge::add_live(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; i++) add(live_.frames[i].code, live_.frames[i].instruction);
}

std::optional<FrameReader::Found> StackMerge::past_frame_of(const PythonCode& code,
                                                            const Words& words) {
  std::optional<FrameReader::Found> likely;
  for (const SampledWord& word : words) {
    const bool is_proven = places_.frame.is_proven(word.place);
    if (word.value % sizeof(std::uint64_t) != 0 || (likely && !is_proven)) continue;
    std::optional<FrameReader::Found> found = reader_.frame_at(word.value);
    if (!found || found->is_mark || found->frame.code->address != code.address) continue;
    if (is_proven) return found;
    likely = found;
  }
  return likely;
}

// Its part of the stack is as new as the function that it runs, so old words of others are all
// around; but of its frame there is only one.
std::optional<RunningFunction::Found> StackMerge::find_by_frame(const RunningFunction& running,
                                                                const SampledLoop& loop,
                                                                const Words& words) {
  for (const SampledWord& word : words) {
    const bool is_own = word.in_register() || !loop.is_kept_for_caller(word.value);
    if (!is_own || word.value % sizeof(std::uint64_t) != 0) continue;
    const std::optional<FrameReader::Found> frame = reader_.frame_at(word.value);
    if (!frame) continue;
    const CodePointer& code = frame->frame.code;
    if (const auto next = running.next_in(*code)) return RunningFunction::Found{code, *next};
  }
  return std::nullopt;
}

// The memory of a frame stays as it was until another is put there. Where its links lead to a
// function that still runs, or out of the C function that ran them all, they are believed. Those
// between are left out otherwise: better none than wrong ones.
void StackMerge::add_past_callers(const FrameReader::Found& inner, const SampledLoop& loop,
                                  const std::optional<Entry>& entry) {
  constexpr std::size_t kMostPast = 64;
  std::vector<PythonFrame> past;
  FrameReader::Found at = inner;
  while (!at.frame.ends_entry && past.size() < kMostPast) {
    const auto live = entry ? live_frame(*entry, at.outer) : std::nullopt;
    if (live && !may_have_called(live_.frames[*live], at.frame.address)) break;
    const auto next = live ? std::nullopt : reader_.frame_at(at.outer);
    if (next && !next->is_mark && !may_have_called(next->frame, at.frame.address)) break;
    const bool is_end =
        next && next->is_mark && !entry && at.outer >= loop.begin && at.outer < loop.end;
    if (live || is_end) {
      for (const PythonFrame& frame : past) add(frame.code, frame.instruction);
      if (live) add_live(*live, entry->end);
      return;
    }
    if (!next || next->is_mark) break;
    past.push_back(next->frame);
    at = *next;
  }
  if (entry) return add_lasting(*entry, inner.frame.address);
  if (!at.frame.ends_entry) return;
  for (const PythonFrame& frame : past) add(frame.code, frame.instruction);
}

std::uint64_t StackMerge::frame_address(const Words& words) const {
  const auto found = std::ranges::find_if(
      words, [this](const SampledWord& word) { return places_.frame.is_proven(word.place); });
  return found != words.end() ? found->value : 0;
}

// What ends where a frame began is its caller's.
bool StackMerge::add_neighbours(const Entry& entry, std::uint64_t inner) {
  const auto ends_there = [inner](const PythonFrame& frame) { return end_of(frame) == inner; };
  const auto ended = std::ranges::find_if(live_.ended, ends_there);
  const auto begin = live_.frames.begin() + static_cast<std::ptrdiff_t>(entry.begin);
  const auto end = live_.frames.begin() + static_cast<std::ptrdiff_t>(entry.end);
  const auto live = std::find_if(begin, end, ends_there);
  if ((ended == live_.ended.end()) == (live == end)) return false;  // none, or two of them
  if (live != end) {
    add_live(entry.begin + static_cast<std::size_t>(live - begin), entry.end);
    return true;
  }
  const std::size_t lasting = live_.frames.size() - live_.lasting;
  const auto ends_entry = [](const PythonFrame& frame) { return frame.ends_entry; };
  if (lasting < entry.begin || lasting >= entry.end ||
      std::any_of(ended, live_.ended.end(), ends_entry))
    return false;
  for (auto frame = ended; frame != live_.ended.end(); ++frame)
    add(frame->code, frame->instruction);
  add_live(lasting, entry.end);
  return true;
}

// A frame at the same place or behind it was put there since, or it was another call's.
void StackMerge::add_lasting(const Entry& entry, std::uint64_t inner) {
  constexpr std::uint32_t kLong = 3;
  if (inner == 0 || add_neighbours(entry, inner)) return;
  std::size_t begin = entry.end;
  while (begin > entry.begin) {
    const PythonFrame& frame = live_.frames[begin - 1];
    const bool is_outermost = begin == entry.end;
    if (frame.address == inner || (frame.address < inner && end_of(frame) > inner)) break;
    if (!is_outermost && frame.age < kLong) break;
    begin--;
  }
  add_live(begin, entry.end);
}

void StackMerge::add_callers(const RunningFunction::Found& ran, const SampledLoop& loop,
                             const Words& words, const std::optional<Entry>& entry) {
  const auto index = entry ? live_frame_of(*ran.code, words, *entry) : std::nullopt;
  if (index) {
    learn_frame_places(live_.frames[*index], words, *entry);
    return add_live(*index + 1, entry->end);
  }
  if (const std::optional<FrameReader::Found> past = past_frame_of(*ran.code, words)) {
    if (!past->frame.ends_entry) add_past_callers(*past, loop, entry);
  } else if (entry && reader_.shares_loops()) {
    add_lasting(*entry, frame_address(words));
  }
}

bool StackMerge::is_passing(const SampledLoop& loop) {
  constexpr std::uint64_t kReturnAndRegisters = 7 * sizeof(std::uint64_t);
  return loop.index == 0 && loop.end - loop.begin <= kReturnAndRegisters;
}

// Registers that are those of its caller: it has just begun, or does not need them. Who tells?
bool StackMerge::may_have_callers_registers(const SampledLoop& loop,
                                            const SampledLoop* outer) const {
  if (loop.index != 0 || outer == nullptr) return false;
  for (std::size_t number = 0; number < symbols::kRegisters; number++) {
    const std::optional<std::uint64_t> value = loop.registers.get(number);
    if (!value || !loop.registers.is_kept(number) || outer->registers.get(number) != value)
      continue;
    const auto same = [&](const PythonFrame& frame) { return frame.address == *value; };
    if (std::ranges::any_of(live_.frames, same)) return true;
  }
  return false;
}

bool StackMerge::add_loop(const SampledLoop& loop, const SampledLoop* outer,
                          const symbols::StackCopy& copy) {
  if (is_passing(loop)) return true;
  if (may_have_callers_registers(loop, outer)) {
    is_uncertain_ = true;
    return false;
  }
  const Words words = words_of(loop, copy);
  const std::optional<Entry> entry = entry_of(loop, words);
  const PythonFrame* seen = entry ? seen_frame(loop, words, *entry) : nullptr;
  const PythonCode* code = seen != nullptr ? seen->code.get() : nullptr;
  const RunningFunction running(codes_, places_.instruction, loop, words);
  const std::optional<RunningFunction::Found> ran =
      reader_.shares_loops() ? running.find(code) : find_by_frame(running, loop, words);
  running.learn(code, places_.instruction);
  if (entry) next_ = entry->end;
  if (!ran) {
    is_uncertain_ = true;
    return false;
  }
  add(ran->code, ran->next - kUnit);  // what comes next stands behind what is being done
  add_callers(*ran, loop, words, entry);
  return true;
}

// Nothing is known of the C function but that it runs Python: the frames come one after the other.
// The innermost one may run another function by now.
bool StackMerge::add_next_entry() {
  const auto is_python = [](const MergedFrame& frame) { return frame.code != nullptr; };
  is_uncertain_ |= std::ranges::none_of(merged_, is_python);
  if (is_uncertain_ || next_ >= live_.frames.size()) return false;
  const Entry entry = entry_at(next_);
  add_live(entry.begin, entry.end);
  next_ = entry.end;
  return true;
}

// Frames of C functions that were not copied. What lies on the copied part of the stack and was not
// met there came after the sample.
void StackMerge::add_rest(const SampledStack& stack) {
  const std::uint64_t end = stack.copy.begin + stack.copy.bytes.size();
  while (next_ < live_.frames.size()) {
    const Entry entry = entry_at(next_);
    const std::uint64_t anchor = live_.frames[entry.end - 1].anchor;
    if (anchor == 0 || anchor >= end) add_live(entry.begin, entry.end);
    next_ = entry.end;
  }
}

// Those that the loop called.
void StackMerge::drop_helpers(std::span<const NativeRole> roles, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && !merged_[begin - 1].code &&
         roles[merged_[begin - 1].native] == NativeRole::kHelper)
    begin--;
  const auto at = [this](std::size_t index) {
    return merged_.begin() + static_cast<std::ptrdiff_t>(index);
  };
  merged_.erase(at(begin), at(end));
}

std::vector<MergedFrame> StackMerge::merge(const SampledStack& stack) {
  const auto is_python = [this] { return !merged_.empty() && merged_.back().code != nullptr; };
  auto loop = stack.loops.begin();
  for (std::size_t i = 0; i < stack.roles.size(); i++) {
    if (stack.roles[i] != NativeRole::kLoop) {
      const bool led_there = stack.roles[i] == NativeRole::kHelper && is_python();
      if (!led_there) merged_.push_back({.native = i, .code = nullptr, .line = 0});
      continue;
    }
    while (loop != stack.loops.end() && loop->index < i) ++loop;
    const bool is_known = loop != stack.loops.end() && loop->index == i;
    const std::size_t inner = merged_.size();
    const SampledLoop* outer =
        is_known && loop + 1 != stack.loops.end() ? std::to_address(loop + 1) : nullptr;
    if (!(is_known ? add_loop(*loop, outer, stack.copy) : add_next_entry()))
      merged_.push_back({.native = i, .code = nullptr, .line = 0});
    else
      drop_helpers(stack.roles, inner);
  }
  if (!stack.whole) add_rest(stack);
  return std::move(merged_);
}

}  // namespace fathom::sources
