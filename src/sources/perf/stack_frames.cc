// SPDX-License-Identifier: MIT
// Chains of the kernel have a word between parts that tells whose the next addresses are.
#include "sources/perf/stack_frames.h"

#include <linux/perf_event.h>

#include <algorithm>

namespace fathom::sources {

namespace {

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

template <class Use>
void each_address(const perf::Words& chain, std::uint64_t whose, Use use) {
  std::uint64_t context = PERF_CONTEXT_USER;
  for (std::size_t i = 0; i < chain.size(); i++) {
    if (chain[i] >= PERF_CONTEXT_MAX) {
      context = chain[i];
    } else if (context == whose) {
      use(chain[i]);
    }
  }
}

}  // namespace

using trace::Frame;

Frame StackFrames::kernel_frame(std::uint64_t address) {
  const auto [place, is_new] = kernel_codes_.try_emplace(address, trace::kNoString);
  if (is_new) {
    const std::string name = kernel_ ? kernel_(address) : std::string();
    place->second = strings_.code(name.empty() ? kKernelModule : name);
  }
  Frame frame;
  frame.function = place->second;
  frame.module = strings_.code(kKernelModule);
  return frame;
}

Frame StackFrames::user_frame(std::int32_t pid, std::uint64_t address) {
  Frame frame;
  const std::optional<ProcessMaps::Place> place = maps_.find(pid, address);
  if (!place) {
    frame.function = strings_.code("unknown");
    return frame;
  }
  frame.module = strings_.code(place->module->path);
  frame.build_id = strings_.code_or_null(hex(place->module->build_id));
  frame.offset = static_cast<std::int64_t>(place->offset);
  return frame;
}

void StackFrames::add_kernel_frames(const perf::Words& chain) {
  each_address(chain, PERF_CONTEXT_KERNEL,
               [this](std::uint64_t address) { frames_.push_back(kernel_frame(address)); });
}

void StackFrames::follow_pointers(const perf::Words& chain) {
  by_pointers_.clear();
  each_address(chain, PERF_CONTEXT_USER, [this](std::uint64_t address) {
    by_pointers_.push_back({address, !by_pointers_.empty()});
  });
}

// Its part of the stack ends where that of its caller begins.
void StackFrames::note_loop(const symbols::UnwoundFrame& frame, const symbols::Registers& registers,
                            const PythonProcess& python) {
  const std::uint64_t sp = registers.get(registers.sp_number()).value_or(0);
  const std::size_t index = by_tables_.size() - 1;
  if (!loops_.empty() && loops_.back().index + 1 == index) loops_.back().end = sp;
  if (python.role(frame.place()) == NativeRole::kLoop)
    loops_.push_back({.index = index, .registers = registers, .begin = sp, .end = sp});
}

symbols::UnwindEnd StackFrames::follow_tables(std::int32_t pid, const perf::Sample& sample,
                                              const PythonProcess* python) {
  by_tables_.clear();
  loops_.clear();
  constexpr std::size_t kMostRegisters = 64;
  std::uint64_t values[kMostRegisters];
  const std::size_t count = std::min(sample.registers.size(), kMostRegisters);
  for (std::size_t i = 0; i < count; i++) values[i] = sample.registers[i];
  const auto registers = symbols::Registers::of_perf(
      symbols::kThisMachine, symbols::perf_register_mask(symbols::kThisMachine),
      std::span(values, count));
  symbols::AddressSpace* space =
      sample.registers_abi == PERF_SAMPLE_REGS_ABI_64 ? tables_.space_of(maps_, pid) : nullptr;
  if (!registers || space == nullptr) return symbols::UnwindEnd::kNoRules;
  copy_ = {registers->get(registers->sp_number()).value_or(0),
           {reinterpret_cast<const char*>(sample.stack.data()), sample.stack.size()}};
  if (python == nullptr) return symbols::unwind(*registers, copy_, *space, by_tables_);
  return symbols::unwind(*registers, copy_, *space, by_tables_,
                         [&](const symbols::UnwoundFrame& frame, const symbols::Registers& there) {
                           note_loop(frame, there, *python);
                         });
}

// Frame pointers skip the caller of a function that has none, and end where a function uses the
// register for something else; tables end with the copy of the stack. Where tables come to the end,
// theirs is the whole truth; else what the kernel found behind their last frame goes on.
bool StackFrames::choose_deeper(symbols::UnwindEnd end) {
  if (end == symbols::UnwindEnd::kWhole) return false;
  const auto same = [this](const symbols::UnwoundFrame& frame) {
    return !by_tables_.empty() && frame.address == by_tables_.back().address;
  };
  const auto meet = std::ranges::find_if(by_pointers_, same);
  if (meet != by_pointers_.end()) {
    by_tables_.insert(by_tables_.end(), meet + 1, by_pointers_.end());
  } else if (by_pointers_.size() > by_tables_.size()) {
    by_tables_ = by_pointers_;
    loops_.clear();
  } else {
    return end == symbols::UnwindEnd::kCut || end == symbols::UnwindEnd::kLimit;
  }
  return false;
}

Frame StackFrames::python_frame(const MergedFrame& frame) {
  Frame made;
  made.function = strings_.code(frame.code->function);
  made.module = made.file = strings_.code_or_null(frame.code->file);
  if (frame.line > 0) made.line = frame.line;
  return made;
}

bool StackFrames::add_python_frames(std::int32_t pid, std::int32_t tid, PythonProcess& python,
                                    bool whole) {
  roles_.clear();
  for (const symbols::UnwoundFrame& frame : by_tables_)
    roles_.push_back(python.role(frame.place()));
  const std::vector<MergedFrame> merged = python.merge(tid, {roles_, loops_, copy_, whole});
  for (const MergedFrame& frame : merged) {
    frames_.push_back(frame.code ? python_frame(frame)
                                 : user_frame(pid, by_tables_[frame.native].place()));
  }
  return !merged.empty();
}

std::int64_t StackFrames::stack(std::int32_t pid, std::int32_t tid, const perf::Sample& sample) {
  frames_.clear();
  copy_ = {};
  PythonProcess* python = python_.process(pid);
  add_kernel_frames(sample.callchain);
  follow_pointers(sample.callchain);
  const symbols::UnwindEnd end = follow_tables(pid, sample, python);
  const bool is_cut = choose_deeper(end);
  const bool whole = end == symbols::UnwindEnd::kWhole;
  if (python == nullptr || !add_python_frames(pid, tid, *python, whole)) {
    if (is_cut) cut_++;
    for (const symbols::UnwoundFrame& frame : by_tables_)
      frames_.push_back(user_frame(pid, frame.place()));
  }
  std::ranges::reverse(frames_);
  return stacks_.stack(frames_, strings_);
}

}  // namespace fathom::sources
