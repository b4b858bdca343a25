// SPDX-License-Identifier: MIT
// A sample's stack out of its parts: the kernel's chain (addresses by frame pointers, with a word
// between parts that tells whose the next ones are), a copy of the stack that is unwound by tables,
// and Python's own frames. Tables are right where they lead; frame pointers take over where they do
// not (joined_stack.h); Python's frames take the place of the interpreter's.
#include "sources/perf/stack_frames.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <iterator>

#include "base/clock.h"
#include "base/files.h"
#include "base/hex.h"
#include "base/text.h"
#include "trace/rows/frame_names.h"

namespace fathom::sources {

namespace {

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

// How many addresses a chain may have.
// The kernel cuts chains there without a word.
std::size_t longest_chain() {
  constexpr std::int64_t kUsual = 127;
  const Result<std::string> text = read_file("/proc/sys/kernel/perf_event_max_stack");
  const Result<std::int64_t> most = text ? parse_int(trim(*text)) : Result<std::int64_t>(kUsual);
  return static_cast<std::size_t>(most ? std::max<std::int64_t>(*most, 1) : kUsual);
}

// Whether the kernel walked as far as it walks at most.
bool is_full(const perf::Words& chain, std::size_t most) {
  std::size_t addresses = 0;
  for (std::size_t i = 0; i < chain.size(); i++) addresses += chain[i] < PERF_CONTEXT_MAX ? 1 : 0;
  return addresses >= most;
}

}  // namespace

using trace::Frame;

StackFrames::StackFrames(ProcessMaps& maps, trace::Strings& strings, KernelNames kernel,
                         const StackLimits& limits)
    : maps_(maps),
      python_(maps),
      strings_(strings),
      kernel_(std::move(kernel)),
      jit_module_(strings.code(kCompiledModule)),
      memory_(strings, limits),
      most_in_chain_(longest_chain()) {}

Frame StackFrames::kernel_frame(std::uint64_t address) {
  constexpr std::size_t kMostKnown = std::size_t{1} << 18U;
  // A cache: names are asked for again.
  if (kernel_codes_.size() >= kMostKnown) kernel_codes_.clear();
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

Frame StackFrames::user_frame(std::int32_t pid, std::uint64_t address, std::uint64_t time) {
  Frame frame;
  const std::optional<ProcessMaps::Place> place = maps_.find(pid, address);
  if (!place) {
    frame.function = strings_.code("unknown");
    return frame;
  }
  if (is_memory(place->module->path)) return compiled_frame(pid, address, time);
  frame.module = strings_.code(place->module->path);
  frame.build_id = strings_.code_or_null(to_hex(place->module->build_id));
  frame.offset = static_cast<std::int64_t>(place->offset);
  if (place->module->is_in_anothers_place) {
    // Another file lies there by now: its symbols would name the wrong function, so the place is
    // the name, for good.
    frame.function = memory_.text(trace::name_of_place(place->module->path, frame.offset));
    replaced_++;
  }
  return frame;
}

Frame StackFrames::frame_of(const JitNames::Answer& answer) {
  Frame frame;
  frame.module = jit_module_;
  if (answer.kind == JitNames::Answer::Kind::kName) {
    frame.function = memory_.text(answer.function);
    frame.file = memory_.text_or_null(answer.file);
    if (answer.line > 0) frame.line = answer.line;
  } else {
    frame.function = strings_.code("unknown");
    unnamed_++;
  }
  return frame;
}

// Until it is named, `line` is the number to ask by.
Frame StackFrames::compiled_frame(std::int32_t pid, std::uint64_t address, std::uint64_t time) {
  const JitNames::Answer answer = jit_.find(pid, address, time);
  if (answer.kind != JitNames::Answer::Kind::kLater) return frame_of(answer);
  Frame frame;
  frame.module = jit_module_;
  frame.line = static_cast<std::int32_t>(jit_.ask_later(pid, address, time));
  return frame;
}

// Frames of compiled code wait until the JIT has written down what it made, with their whole stack:
// a stack is told once.
bool StackFrames::name_waiting(std::span<trace::FrameRow> stack) {
  // A JIT writes down what it made at once, or when its buffer is full.
  constexpr std::int64_t kPatience = 30'000'000'000;
  constexpr std::size_t kMostHeld = std::size_t{1} << 19U;
  const bool is_late = held_.rows.size() > kMostHeld || now_monotonic_ns() - held_ns_ > kPatience;
  for (trace::FrameRow& row : stack) {
    if (!waits(row.frame)) continue;
    const JitNames::Answer answer = jit_.find_again(static_cast<std::uint32_t>(row.frame.line));
    if (answer.kind == JitNames::Answer::Kind::kLater && !is_late) return false;
    row.frame = frame_of(answer);
  }
  return true;
}

trace::FrameBatch StackFrames::take_new() {
  trace::FrameBatch all = std::exchange(held_, {});
  trace::FrameBatch fresh = memory_.take_new();
  if (all.rows.empty()) held_ns_ = now_monotonic_ns();
  std::ranges::move(fresh.rows, std::back_inserter(all.rows));
  trace::FrameBatch ready;
  for (auto begin = all.rows.begin(); begin != all.rows.end();) {
    const auto end = std::find_if(begin, all.rows.end(), [begin](const trace::FrameRow& row) {
      return row.stack != begin->stack;
    });
    trace::FrameBatch& to = name_waiting({begin, end}) ? ready : held_;
    to.rows.insert(to.rows.end(), begin, end);
    begin = end;
  }
  if (held_.rows.empty()) jit_.forget_numbers();
  return ready;
}

void StackFrames::add_kernel_frames(const perf::Words& chain) {
  each_address(chain, PERF_CONTEXT_KERNEL,
               [this](std::uint64_t address) { frames_.push_back(kernel_frame(address)); });
}

// The first address is where the thread was, all others are behind calls.
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
  if (!loops_.empty() && loops_.back().index + 1 == index) {
    loops_.back().end = sp;
    loops_.back().caller = registers;
  }
  if (python.role(frame.place()) == NativeRole::kLoop)
    loops_.push_back(
        {.index = index, .registers = registers, .begin = sp, .end = sp, .caller = {}});
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
      // A program of 32 bits has other registers, and tables that are not read here.
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

Frame StackFrames::python_frame(const MergedFrame& frame) {
  Frame made;
  made.function = memory_.text(frame.code->function);
  made.module = made.file = memory_.text_or_null(frame.code->file);
  if (frame.line > 0) made.line = frame.line;
  return made;
}

bool StackFrames::add_python_frames(const perf::SampleId& id, PythonProcess& python, bool whole) {
  const auto pid = static_cast<std::int32_t>(id.pid);
  const auto tid = static_cast<std::int32_t>(id.tid);
  // Frame pointers may have taken the place of what the tables told.
  std::erase_if(loops_, [this](const SampledLoop& loop) {
    return loop.index >= by_tables_.size() || by_tables_[loop.index].address != loop.registers.pc;
  });
  roles_.clear();
  for (const symbols::UnwoundFrame& frame : by_tables_)
    roles_.push_back(python.role(frame.place()));
  const std::vector<MergedFrame> merged = python.merge(tid, {roles_, loops_, copy_, whole});
  for (const MergedFrame& frame : merged) {
    frames_.push_back(frame.code ? python_frame(frame)
                                 : user_frame(pid, by_tables_[frame.native].place(), id.time));
  }
  return !merged.empty();
}

// Whether callers are missing: the copy of the stack, or what the kernel walks, was not enough.
bool StackFrames::is_cut(symbols::UnwindEnd end, std::int32_t pid, bool chain_is_full) {
  const bool ended_early = end == symbols::UnwindEnd::kCut || end == symbols::UnwindEnd::kLimit;
  if (!ended_early && !chain_is_full) return false;
  const symbols::AddressSpace* space = tables_.space_of(maps_, pid);
  return space == nullptr || by_tables_.empty() ||
         !symbols::is_outermost(by_tables_.back(), *space, symbols::kThisMachine);
}

// Inside exec, where the old program's stack is gone already: its registers lead nowhere.
bool StackFrames::is_between_programs(const perf::Sample& sample) {
  if (!sample.stack.empty()) return false;
  return std::ranges::any_of(frames_, [this](const Frame& frame) {
    const std::string_view function = strings_.view(frame.function);
    return function == "bprm_execve" || function == "load_elf_binary";
  });
}

// A register that is used for something else leads anywhere; what is no code called nobody.
bool StackFrames::drop_strays(std::int32_t pid) {
  const auto strays = [&](const symbols::UnwoundFrame& frame) {
    return frame.is_return && !maps_.find(pid, frame.place());
  };
  if (maps_.space(pid) == nullptr) {  // nobody told yet what its code is
    if (by_pointers_.size() > 1) by_pointers_.resize(1);
    return true;
  }
  const auto first = std::ranges::find_if(by_pointers_, strays);
  const bool any = first != by_pointers_.end();
  by_pointers_.erase(first, by_pointers_.end());
  return any;
}

// Where nothing at all could be copied, the page of the stack is just being made: that is told in
// the stack itself, with the time that it took.
void StackFrames::tell_of_missing(symbols::UnwindEnd end, std::int32_t pid, bool chain_is_full,
                                  const perf::Sample& sample) {
  // Nobody called from beyond the memory of the stack: a thread that has just begun.
  const bool is_all = sample.stack_ends && !sample.stack.empty();
  if (is_all && end == symbols::UnwindEnd::kCut) return;
  if (!is_cut(end, pid, chain_is_full)) return;
  if (!sample.stack.empty()) {
    cut_++;
    return;
  }
  Frame frame;
  frame.function = strings_.code("[unreadable stack]");
  frames_.push_back(frame);
}

std::span<const Frame> StackFrames::outermost_first() {
  std::ranges::reverse(frames_);
  return frames_;
}

std::int64_t StackFrames::kernel_stack(const std::vector<std::string>& functions,
                                       const std::string& user) {
  frames_.clear();
  for (const std::string& function : functions) {
    Frame frame;
    frame.function = strings_.code(function);
    frame.module = strings_.code(kKernelModule);
    frames_.push_back(frame);
  }
  if (!user.empty()) frames_.emplace_back().function = strings_.code(user);
  return memory_.stack(outermost_first());
}

void StackFrames::begin_anew() {
  memory_.begin_anew();
  held_ = {};
}

std::int64_t StackFrames::stack(const perf::SampleId& id, const perf::Sample& sample) {
  const auto pid = static_cast<std::int32_t>(id.pid);
  frames_.clear();
  copy_ = {};
  PythonProcess* python = python_.process(pid);
  add_kernel_frames(sample.callchain);
  follow_pointers(sample.callchain);
  if (is_between_programs(sample)) return memory_.stack(outermost_first());
  const symbols::UnwindEnd end = follow_tables(pid, sample, python);
  bool chain_is_full = is_full(sample.callchain, most_in_chain_);
  if (end != symbols::UnwindEnd::kWhole) {
    // One that went astray may go in circles for as long as it is let.
    if (drop_strays(pid)) chain_is_full = false;
    join_stacks(by_tables_, by_pointers_);
  }
  const bool whole = end == symbols::UnwindEnd::kWhole;
  // False where none of its frames could be read: then the interpreter's own are shown.
  if (python != nullptr && add_python_frames(id, *python, whole))
    return memory_.stack(outermost_first());
  for (const symbols::UnwoundFrame& frame : by_tables_)
    frames_.push_back(user_frame(pid, frame.place(), id.time));
  if (!whole) tell_of_missing(end, pid, chain_is_full, sample);
  return memory_.stack(outermost_first());
}

}  // namespace fathom::sources
