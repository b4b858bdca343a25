// SPDX-License-Identifier: MIT
// One step at a time from a frame to its caller: by rules where there are any, else by the frame
// pointer, else, for a call that led nowhere, by what the call put onto the stack. Rules are of any
// file and the stack is a copy that may be cut: each step must lead up the stack, so that it ends
// whatever they say. A signal frame may lead to another stack; there are only so many of them.
#include "symbols/unwind/unwinder.h"

#include <algorithm>
#include <optional>

#include "symbols/unwind/expression.h"

namespace fathom::symbols {
namespace {

using Kind = SavedRegister::Kind;
constexpr std::uint64_t kWord = 8;

bool has_no_caller(const FrameRules& rules) {
  return std::ranges::any_of(rules.saved, [&](const SavedRegister& saved) {
    return saved.number == rules.return_number && saved.kind == Kind::kUndefined;
  });
}

// Where the walk stands: the registers as they were in the frame that is looked at.
class Walk {
 public:
  Walk(const Registers& registers, const StackCopy& stack, const AddressSpace& space)
      : now_(registers), stack_(stack), space_(space) {
    set_pc(registers.pc);
  }

  [[nodiscard]] UnwoundFrame frame() const { return {now_.pc, is_return_}; }
  [[nodiscard]] const Registers& registers() const { return now_; }

  // nullopt: there is a caller, which is the frame now.
  std::optional<UnwindEnd> step() {
    const std::uint64_t place = frame().place();
    if (const FrameRules* rules = space_.rules_at(place, now_.machine)) return by_rules(*rules);
    // A call that led nowhere: the caller's address is where the call put it.
    if (!is_return_ && !space_.has(place)) return by_call();
    return by_frame_pointer();
  }

 private:
  [[nodiscard]] std::uint64_t sp() const { return now_.get(now_.sp_number()).value_or(0); }

  // Why a word cannot be read.
  [[nodiscard]] UnwindEnd missing(std::uint64_t address) const {
    return stack_.is_behind(address) ? UnwindEnd::kCut : UnwindEnd::kDamaged;
  }

  // As DWARF 5 has it (6.4): first the frame's address, then where each register was saved, by the
  // registers of before.
  std::optional<UnwindEnd> by_rules(const FrameRules& rules) {
    if (has_no_caller(rules)) return UnwindEnd::kWhole;
    const std::optional<std::uint64_t> cfa = cfa_of(rules);
    if (!cfa) return cfa_end(rules);
    if (!leads_up(*cfa, rules.is_signal)) return UnwindEnd::kDamaged;
    Registers caller = now_;
    caller.set(caller.sp_number(), *cfa);
    std::optional<std::uint64_t> address;
    if (now_.machine == Machine::kAarch64) address = now_.get(rules.return_number);  // of a leaf
    for (const SavedRegister& saved : rules.saved) {
      const bool is_address = saved.number == rules.return_number;
      const std::optional<std::uint64_t> value = value_of(saved, *cfa);
      if (is_address && !value) return saved_end(saved, *cfa);
      if (is_address) address = value;
      value ? caller.set(saved.number, *value) : caller.forget(saved.number);
    }
    if (!address) return UnwindEnd::kDamaged;
    return go_to(caller, *address, !rules.is_signal);
  }

  [[nodiscard]] std::optional<std::uint64_t> cfa_of(const FrameRules& rules) const {
    if (!rules.cfa_expression.empty())
      return evaluate(rules.cfa_expression, now_, stack_, std::nullopt);
    const std::optional<std::uint64_t> base = now_.get(rules.cfa_number);
    if (!base) return std::nullopt;
    return *base + static_cast<std::uint64_t>(rules.cfa_offset);
  }
  // An expression that reads the stack, as those of signal frames do, may miss the copy's end.
  [[nodiscard]] UnwindEnd cfa_end(const FrameRules& rules) const {
    const bool reads = !rules.cfa_expression.empty();
    return reads && stack_.is_behind(sp() + stack_.bytes.size()) ? UnwindEnd::kCut
                                                                 : UnwindEnd::kDamaged;
  }

  // A leaf of aarch64 may have no frame at all, once.
  [[nodiscard]] bool leads_up(std::uint64_t cfa, bool is_signal) {
    constexpr int kMostSignals = 64;
    if (is_signal) return ++signals_ <= kMostSignals;
    const bool is_leaf = now_.machine == Machine::kAarch64 && !is_return_;
    return is_leaf ? cfa >= sp() : cfa > sp();
  }

  [[nodiscard]] std::optional<std::uint64_t> place_of(const SavedRegister& saved,
                                                      std::uint64_t cfa) const {
    if (saved.kind == Kind::kAtOffset) return cfa + static_cast<std::uint64_t>(saved.value);
    return evaluate(saved.expression, now_, stack_, cfa);
  }

  [[nodiscard]] std::optional<std::uint64_t> value_of(const SavedRegister& saved,
                                                      std::uint64_t cfa) const {
    switch (saved.kind) {
      case Kind::kUndefined:
        return std::nullopt;
      case Kind::kIsOffset:
        return cfa + static_cast<std::uint64_t>(saved.value);
      case Kind::kInRegister:
        return now_.get(static_cast<std::uint64_t>(saved.value));
      case Kind::kIsExpression:
        return evaluate(saved.expression, now_, stack_, cfa);
      case Kind::kAtOffset:
      case Kind::kAtExpression: {
        const std::optional<std::uint64_t> place = place_of(saved, cfa);
        return place ? stack_.word(*place) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] UnwindEnd saved_end(const SavedRegister& saved, std::uint64_t cfa) const {
    const bool on_stack = saved.kind == Kind::kAtOffset || saved.kind == Kind::kAtExpression;
    const std::optional<std::uint64_t> place = on_stack ? place_of(saved, cfa) : std::nullopt;
    return place ? missing(*place) : UnwindEnd::kDamaged;
  }

  std::optional<UnwindEnd> by_call() {
    Registers caller = now_;
    if (now_.machine == Machine::kAarch64) {
      const std::optional<std::uint64_t> link = now_.get(kLinkNumber);
      return link ? accept(caller, *link) : UnwindEnd::kNoRules;
    }
    const std::optional<std::uint64_t> address = stack_.word(sp());
    if (!address) return missing(sp());
    caller.set(caller.sp_number(), sp() + kWord);
    return accept(caller, *address);
  }

  // What was saved lies where it points to: the caller's, and the return address behind it.
  std::optional<UnwindEnd> by_frame_pointer() {
    const std::optional<std::uint64_t> fp = now_.get(now_.fp_number());
    if (!fp || *fp < sp() || *fp % kWord != 0) return UnwindEnd::kNoRules;
    const std::optional<std::uint64_t> next = stack_.word(*fp);
    const std::optional<std::uint64_t> address = stack_.word(*fp + kWord);
    if (!next || !address)
      return stack_.is_behind(*fp + kWord) ? UnwindEnd::kCut : UnwindEnd::kNoRules;
    Registers caller = now_;
    caller.set(caller.fp_number(), *next);
    caller.set(caller.sp_number(), *fp + 2 * kWord);
    return accept(caller, *address);
  }

  // What was guessed has to lead to code.
  std::optional<UnwindEnd> accept(const Registers& caller, std::uint64_t address) {
    if (address != 0 && !space_.has(plain(address) - 1)) return UnwindEnd::kNoRules;
    return go_to(caller, address, true);
  }

  // Without the signature that aarch64 may put into the upper bits.
  [[nodiscard]] std::uint64_t plain(std::uint64_t address) const {
    constexpr std::uint64_t kAddressBits = (std::uint64_t{1} << 48U) - 1;
    return now_.machine == Machine::kAarch64 ? address & kAddressBits : address;
  }

  std::optional<UnwindEnd> go_to(const Registers& caller, std::uint64_t address, bool is_return) {
    if (plain(address) == 0) return UnwindEnd::kWhole;
    now_ = caller;
    set_pc(plain(address));
    is_return_ = is_return;
    return std::nullopt;
  }

  // Expressions of x86_64 may ask for it by its number.
  void set_pc(std::uint64_t pc) {
    constexpr std::uint64_t kPcNumber = 16;
    now_.pc = pc;
    if (now_.machine == Machine::kX86) now_.set(kPcNumber, pc);
  }

  static constexpr std::uint64_t kLinkNumber = 30;
  Registers now_;
  const StackCopy& stack_;
  const AddressSpace& space_;
  bool is_return_ = false;
  int signals_ = 0;
};

}  // namespace

UnwindEnd unwind(const Registers& registers, const StackCopy& stack, const AddressSpace& space,
                 std::vector<UnwoundFrame>& frames, std::size_t most) {
  return unwind(registers, stack, space, frames, {}, most);
}

UnwindEnd unwind(const Registers& registers, const StackCopy& stack, const AddressSpace& space,
                 std::vector<UnwoundFrame>& frames, const SeeRegisters& see, std::size_t most) {
  frames.clear();
  Walk walk(registers, stack, space);
  while (frames.size() < most) {
    frames.push_back(walk.frame());
    if (see) see(frames.back(), walk.registers());
    if (const std::optional<UnwindEnd> end = walk.step()) return *end;
  }
  return UnwindEnd::kLimit;
}

bool is_outermost(const UnwoundFrame& frame, const AddressSpace& space, Machine machine) {
  const FrameRules* rules = space.rules_at(frame.place(), machine);
  return rules != nullptr && has_no_caller(*rules);
}

}  // namespace fathom::symbols
