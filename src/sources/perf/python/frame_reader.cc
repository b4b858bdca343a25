// SPDX-License-Identifier: MIT
// Frames are read while the process runs on: nothing stops it, so any word may be of another moment
// than the one before. Whatever is read is checked against what it must be (a type, an interpreter
// that is pointed back to), and lists may lead in circles when they change: each walk has a limit.
#include "sources/perf/python/frame_reader.h"

namespace fathom::sources {
namespace {

constexpr std::size_t kMostInterpreters = 256;
constexpr std::size_t kMostThreads = 16384;
constexpr std::size_t kMostFrames = 16384;
constexpr std::uint8_t kFirstMark = 3;  // owners from here on have no function of Python
constexpr std::uint64_t kTags = 7;      // 3.14 has notes of its own in an address's lowest bits

}  // namespace

// From the outermost on: what is the same there has been running all the time since.
void PythonStack::compare_with(const PythonStack& before) {
  auto old = before.frames.rbegin();
  for (auto one = frames.rbegin(); one != frames.rend() && old != before.frames.rend();
       ++one, ++old) {
    if (one->address != old->address || one->code->address != old->code->address) break;
    one->age = old->age + 1;
    lasting++;
  }
  ended.assign(before.frames.begin(), old.base());
}

void FrameReader::add_threads(std::uint64_t interpreter, std::vector<PythonThread>& threads) {
  std::optional<std::uint64_t> thread = memory_.pointer(interpreter + layout_.first_thread);
  while (thread && threads.size() < kMostThreads) {
    // No thread, or not this one's: the list has changed.
    if (memory_.pointer(*thread + layout_.interpreter_of_thread) != interpreter) return;
    std::optional<std::uint64_t> native;
    if (layout_.native_id != PythonLayout::kNone)
      native = memory_.pointer(*thread + layout_.native_id);
    threads.push_back({*thread, native.value_or(0)});
    thread = memory_.pointer(*thread + layout_.next_thread);
  }
}

std::vector<PythonThread> FrameReader::threads(std::uint64_t runtime) {
  std::vector<PythonThread> threads;
  std::optional<std::uint64_t> one = memory_.pointer(runtime + layout_.first_interpreter);
  for (std::size_t i = 0; one && i < kMostInterpreters; i++) {
    add_threads(*one, threads);
    one = memory_.pointer(*one + layout_.next_interpreter);
  }
  return threads;
}

std::optional<FrameReader::Found> FrameReader::frame_at(std::uint64_t address) {
  Found found;
  found.frame.address = address;
  found.outer = memory_.pointer(address + layout_.outer).value_or(0);
  if (layout_.owner != PythonLayout::kNone) {
    const auto owner = memory_.number<std::uint8_t>(address + layout_.owner);
    if (!owner) return std::nullopt;
    found.is_mark = *owner >= kFirstMark;
    if (found.is_mark) return found;
  }
  const auto code = memory_.pointer(address + layout_.code);
  if (code) found.frame.code = codes_.at(*code & ~kTags);
  if (!found.frame.code) return std::nullopt;
  if (layout_.instruction_is_index) {
    const auto index = memory_.number<std::int32_t>(address + layout_.instruction);
    if (!index) return std::nullopt;
    const std::uint64_t at = *index < 0 ? 0 : static_cast<std::uint64_t>(*index);
    found.frame.instruction = found.frame.code->begin + at * layout_.index_unit;
  } else {
    found.frame.instruction = memory_.pointer(address + layout_.instruction).value_or(0);
  }
  found.frame.ends_entry = !layout_.marks_entries();
  if (layout_.is_entry != PythonLayout::kNone)
    found.frame.ends_entry = memory_.number<std::uint8_t>(address + layout_.is_entry) == 1;
  return found;
}

PythonStack FrameReader::stack(std::uint64_t thread) {
  PythonStack stack;
  std::uint64_t record = memory_.pointer(thread + layout_.top).value_or(0);
  std::uint64_t address = record;
  const bool has_records = layout_.top_in_record != PythonLayout::kNone;
  if (has_records && record != 0)
    address = memory_.pointer(record + layout_.top_in_record).value_or(0);
  // Marks are none of the frames, and memory that changes may lead in circles.
  for (std::size_t steps = 0; address != 0 && stack.frames.size() < kMostFrames; steps++) {
    if (steps > 2 * kMostFrames) return stack;
    const std::optional<Found> found = frame_at(address);
    if (!found) return stack;
    if (found->is_mark) {
      if (!stack.frames.empty()) {
        stack.frames.back().ends_entry = true;
        stack.frames.back().anchor = address;
      }
    } else {
      stack.frames.push_back(found->frame);
      if (found->frame.ends_entry && has_records && record != 0) {
        stack.frames.back().anchor = record;
        record = memory_.pointer(record + layout_.outer_record).value_or(0);
      }
    }
    if (found->outer == address) return stack;
    address = found->outer;
  }
  // A function that ends while it is read loses its caller: only an entry ends a stack.
  stack.whole = address == 0 && (stack.frames.empty() || stack.frames.back().ends_entry);
  return stack;
}

}  // namespace fathom::sources
