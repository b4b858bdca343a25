// SPDX-License-Identifier: MIT
// A frame's address tells little by itself: a function that is called where another has just ended
// gets a frame at the same place. The instruction that comes next lies inside of the function's
// code, so it tells which function it was, and its line.
#include "sources/perf/python/stack_merge.h"

#include <algorithm>

namespace fathom::sources {
namespace {

constexpr std::uint64_t kUnit = 2;  // bytes of an instruction

bool is_next_in(const PythonCode& code, const SampledWord& word) {
  return word.value > code.begin && word.value <= code.end;
}

}  // namespace

StackMerge::StackMerge(FrameReader& reader, CodeObjects& codes, LoopPlaces& places,
                       const KnownCallers& callers, const PythonStack& live)
    : reader_(reader),
      codes_(codes),
      places_(places),
      callers_(callers),
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
    const auto is_frame = [&](const SampledWord& word) {
      return live_frame(entry, word.value).has_value();
    };
    if (has_anchors_ ? is_anchored : std::ranges::any_of(words, is_frame)) return entry;
    begin = entry.end;
  }
  return std::nullopt;
}

std::optional<std::size_t> StackMerge::live_frame(const Entry& entry, std::uint64_t address) const {
  for (std::size_t i = entry.begin; i < entry.end; i++)
    if (live_.frames[i].address == address) return i;
  return std::nullopt;
}

// On the stack lie older words, too: once it is known where the instruction stands, other places do
// not count. What comes next is never a function's first instruction.
std::optional<SampledWord> StackMerge::instruction_in(const PythonCode& code,
                                                      const Words& words) const {
  std::optional<SampledWord> best;
  for (const SampledWord& word : words) {
    if (!is_next_in(code, word) || !places_.instruction.is_likely(word.place)) continue;
    if (!best || places_.instruction.votes(word.place) > places_.instruction.votes(best->place))
      best = word;
  }
  return best;
}

// Every place that may be the one has a vote: the right one is right each time, others are so for a
// while.
void StackMerge::learn_places(const PythonFrame& frame, const Words& words) {
  for (const SampledWord& word : words) {
    const auto vote = [&](WordPlaces& places, bool is_there) {
      is_there ? places.found(word.place) : places.missed(word.place);
    };
    vote(places_.instruction, is_next_in(*frame.code, word));
    vote(places_.frame, word.value == frame.address);
  }
}

void StackMerge::add(const CodePointer& code, std::uint64_t instruction) {
  merged_.push_back({.native = 0, .code = code, .line = code->line(instruction)});
}

void StackMerge::add_live(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; i++) add(live_.frames[i].code, live_.frames[i].instruction);
}

std::optional<PythonFrame> StackMerge::frame_by_instruction(const Words& words) {
  PythonFrame frame;
  for (const SampledWord& word : words) {
    if (!frame.code && places_.instruction.is_best(word.place)) {
      frame.code = codes_.with_instruction(word.value);
      frame.instruction = word.value - kUnit;
    }
    if (places_.frame.is_best(word.place)) frame.address = word.value;
  }
  return frame.code ? std::optional(frame) : std::nullopt;
}

// Frames lie one behind the other as they were called. The memory of one stays as it was until
// another is put there, so those between a function that has ended and one that still runs may be
// found. None: there are others by now.
std::optional<std::vector<PythonFrame>> StackMerge::past_between(const PythonFrame& outer,
                                                                 const PythonFrame& inner) {
  constexpr std::size_t kMostPast = 64;
  std::vector<PythonFrame> between;  // outermost first
  std::uint64_t end = outer.address + outer.code->frame_bytes;
  while (end < inner.address && between.size() < kMostPast) {
    const std::optional<FrameReader::Found> found = reader_.frame_at(end);
    if (!found || found->is_mark || found->frame.code->frame_bytes == 0) break;
    between.push_back(found->frame);
    end += found->frame.code->frame_bytes;
  }
  const PythonFrame& caller = between.empty() ? outer : between.back();
  const bool is_likely =
      callers_.of(*inner.code).empty() || callers_.has(*inner.code, *caller.code);
  if (end != inner.address || !is_likely) return std::nullopt;
  std::ranges::reverse(between);
  return between;
}

// A caller that was seen before and fits exactly between the two.
const PythonFrame* StackMerge::known_between(const PythonFrame& outer,
                                             const PythonFrame& inner) const {
  const std::uint64_t end = outer.address + outer.code->frame_bytes;
  const std::vector<PythonFrame>& known = callers_.of(*inner.code);
  const auto found = std::find_if(known.rbegin(), known.rend(), [&](const PythonFrame& caller) {
    return caller.code->frame_bytes > 0 && end + caller.code->frame_bytes == inner.address;
  });
  return found == known.rend() ? nullptr : &*found;
}

// Adds those between the two that are found in either way.
bool StackMerge::add_between(const PythonFrame& outer, const PythonFrame& inner) {
  if (const auto between = past_between(outer, inner)) {
    for (const PythonFrame& frame : *between) add(frame.code, frame.instruction);
    return true;
  }
  const PythonFrame* caller = known_between(outer, inner);
  if (caller != nullptr) add(caller->code, caller->instruction);
  return caller != nullptr;
}

// All that the C function ran has ended: its first frame lay behind that of a function that called
// it.
void StackMerge::add_past_entry(const PythonFrame& inner) {
  constexpr std::size_t kMostOuter = 16;
  if (inner.ends_entry || (outer_ && add_between(*outer_, inner))) return;
  const std::size_t end = std::min(live_.frames.size(), next_ + kMostOuter);
  for (std::size_t i = next_; i < end; i++)
    if (add_between(live_.frames[i], inner)) return;
}

// The frame that a C function ran, whether it still does or not.
std::optional<PythonFrame> StackMerge::frame_of(const Words& words) {
  for (const SampledWord& word : words) {
    if (word.value % sizeof(std::uint64_t) != 0) continue;
    const std::optional<FrameReader::Found> found = reader_.frame_at(word.value);
    if (found && !found->is_mark && instruction_in(*found->frame.code, words)) return found->frame;
  }
  return std::nullopt;
}

void StackMerge::add_past_callers(const PythonFrame& inner, const Entry& entry) {
  for (std::size_t i = entry.begin; i < entry.end; i++)
    if (add_between(live_.frames[i], inner)) return add_live(i, entry.end);
  // Those between them are not known: better none than wrong ones.
  for (std::size_t i = entry.begin; i < entry.end; i++)
    if (callers_.leads_to(*live_.frames[i].code, *inner.code)) return add_live(i, entry.end);
  const bool is_new = callers_.of(*inner.code).empty();
  add_live(is_new ? entry.begin : entry.end - 1, entry.end);
}

// The frame that is confirmed by the instruction that came next.
bool StackMerge::add_certain_frames(const Words& words, const std::optional<Entry>& entry) {
  for (const SampledWord& word : words) {
    const auto index = entry ? live_frame(*entry, word.value) : std::nullopt;
    std::optional<FrameReader::Found> past;
    if (!index && word.value % sizeof(std::uint64_t) == 0) past = reader_.frame_at(word.value);
    if (past && past->is_mark) past.reset();
    if (!index && !past) continue;
    const CodePointer code = index ? live_.frames[*index].code : past->frame.code;
    const std::optional<SampledWord> instruction = instruction_in(*code, words);
    if (!instruction) continue;
    add(code, instruction->value - kUnit);  // what comes next stands behind what is being done
    if (index) {
      learn_places(live_.frames[*index], words);
      add_live(*index + 1, entry->end);
    } else if (!entry) {
      add_past_entry(past->frame);
    } else if (!past->frame.ends_entry) {
      add_past_callers(past->frame, *entry);
    }
    return true;
  }
  return false;
}

// What is likely: the frame at the place where a function ran, of which only the instruction is
// known; else those that are there now.
bool StackMerge::add_likely_frames(const Words& words, const std::optional<Entry>& entry) {
  std::optional<std::size_t> index;
  for (const SampledWord& word : words) {
    if (entry && !index && word.in_register()) index = live_frame(*entry, word.value);
  }
  const std::optional<PythonFrame> ran = frame_by_instruction(words);
  if (ran) add(ran->code, ran->instruction);
  if (!entry) {
    if (ran) add_past_entry(*ran);
    return ran.has_value();
  }
  if (ran && !index) {
    add_past_callers(*ran, *entry);
  } else {
    add_live(index.value_or(entry->begin) + (ran ? 1 : 0), entry->end);
  }
  return true;
}

// Then its registers are still, or again, those of its caller.
bool StackMerge::is_passing(const SampledLoop& loop, const SampledLoop* outer) {
  constexpr std::uint64_t kReturnAndRegisters = 7 * sizeof(std::uint64_t);
  if (loop.index != 0) return false;
  if (loop.end - loop.begin <= kReturnAndRegisters) return true;
  if (outer == nullptr) return false;
  for (std::size_t number = 0; number < symbols::kRegisters; number++) {
    const std::optional<std::uint64_t> value = loop.registers.get(number);
    if (!value || !loop.registers.is_kept(number) || outer->registers.get(number) != value)
      continue;
    const auto same = [&](const PythonFrame& frame) { return frame.address == *value; };
    if (std::ranges::any_of(live_.frames, same)) return true;
  }
  return false;
}

bool StackMerge::add_loop(std::span<const SampledLoop> loops, const symbols::StackCopy& copy) {
  const SampledLoop& loop = loops.front();
  if (is_passing(loop, loops.size() > 1 ? &loops[1] : nullptr)) return true;
  const Words words = words_of(loop, copy);
  const std::optional<Entry> entry = entry_of(loop, words);
  outer_.reset();
  if (!entry && loops.size() > 1) outer_ = frame_of(words_of(loops[1], copy));
  const bool added = add_certain_frames(words, entry) || add_likely_frames(words, entry);
  if (entry) next_ = entry->end;
  return added;
}

// Nothing is known of the C function but that it runs Python: the frames come one after the other.
bool StackMerge::add_next_entry() {
  if (next_ >= live_.frames.size()) return false;
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
    if (!(is_known ? add_loop({loop, stack.loops.end()}, stack.copy) : add_next_entry()))
      merged_.push_back({.native = i, .code = nullptr, .line = 0});
    else
      drop_helpers(stack.roles, inner);
  }
  if (!stack.whole) add_rest(stack);
  return std::move(merged_);
}

}  // namespace fathom::sources
