// SPDX-License-Identifier: MIT
// DWARF expressions (DWARF 5, section 2.5), as far as call frame information uses them (6.4.2:
// DW_CFA_def_cfa_expression, DW_CFA_expression, DW_CFA_val_expression): 64-bit values, registers
// and the copied stack. What would need a debugger (calls of other expressions, pieces, types) does
// not occur there, and is refused like a damaged operation. The bytes are of a file that anybody
// may have written, and DW_OP_skip can jump backwards: so many steps, so many values.
#include "symbols/unwind/expression.h"

#include <dwarf.h>

#include <array>

#include "symbols/byte_reader.h"

namespace fathom::symbols {
namespace {

// One evaluation. After the first thing that went wrong ok_ is false for good, and values are
// whatever they are: nobody reads them.
class Evaluation {
 public:
  Evaluation(std::string_view expression, const Registers& registers, const StackCopy& stack)
      : expression_(expression), reader_(expression), registers_(registers), stack_(stack) {}

  std::optional<std::uint64_t> run(std::optional<std::uint64_t> first) {
    constexpr int kMostSteps = 1000;  // those of real tables have some ten operations
    if (first) push(*first);
    for (int steps = 0; !reader_.done() && ok_; ++steps) {
      if (steps == kMostSteps) return std::nullopt;
      step(reader_.byte());
    }
    if (!ok_ || !reader_.ok() || count_ == 0) return std::nullopt;
    return values_[count_ - 1];
  }

 private:
  void push(std::uint64_t value) {
    if (count_ == values_.size()) return fail();
    values_[count_++] = value;
  }
  std::uint64_t pop() {
    if (count_ == 0) {
      fail();
      return 0;
    }
    return values_[--count_];
  }
  void fail() { ok_ = false; }
  void push_known(std::optional<std::uint64_t> value) { value ? push(*value) : fail(); }
  static std::uint64_t extended(std::int64_t value) { return static_cast<std::uint64_t>(value); }

  void step(std::uint8_t operation) {
    if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31) {
      push(operation - std::uint64_t{DW_OP_lit0});
    } else if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31) {
      push_register(operation - std::uint64_t{DW_OP_breg0});
    } else if (!constant(operation) && !move(operation) && !unary(operation) && !jump(operation)) {
      binary(operation);
    }
  }

  // DW_OP_breg: the register's value plus an offset. One that the unwinder lost ends the
  // evaluation.
  void push_register(std::uint64_t number) {
    const std::int64_t offset = reader_.sleb();
    const std::optional<std::uint64_t> value = registers_.get(number);
    value ? push(*value + extended(offset)) : fail();
  }

  // 2.5.1.1, literal encodings, and 2.5.1.2, register values. False: it is none of them.
  bool constant(std::uint8_t operation) {
    switch (operation) {
      case DW_OP_const1u:
        return push(reader_.byte()), true;
      case DW_OP_const1s:
        return push(extended(reader_.number<std::int8_t>())), true;
      case DW_OP_const2u:
        return push(reader_.number<std::uint16_t>()), true;
      case DW_OP_const2s:
        return push(extended(reader_.number<std::int16_t>())), true;
      case DW_OP_const4u:
        return push(reader_.number<std::uint32_t>()), true;
      case DW_OP_const4s:
        return push(extended(reader_.number<std::int32_t>())), true;
      case DW_OP_const8u:
      case DW_OP_const8s:
        return push(reader_.number<std::uint64_t>()), true;
      case DW_OP_constu:
        return push(reader_.uleb()), true;
      case DW_OP_consts:
        return push(extended(reader_.sleb())), true;
      case DW_OP_bregx:
        return push_register(reader_.uleb()), true;
      default:
        return false;
    }
  }

  // 2.5.1.3, stack operations; 2.5.1.7, DW_OP_nop.
  bool move(std::uint8_t operation) {
    switch (operation) {
      case DW_OP_nop:
        return true;
      case DW_OP_dup:
        return pick(0), true;
      case DW_OP_over:
        return pick(1), true;
      case DW_OP_pick:
        return pick(reader_.byte()), true;
      case DW_OP_drop:
        return (void)pop(), true;
      case DW_OP_swap: {
        const std::uint64_t top = pop();
        const std::uint64_t below = pop();
        push(top);
        return push(below), true;
      }
      case DW_OP_rot: {
        const std::uint64_t top = pop();
        const std::uint64_t second = pop();
        const std::uint64_t third = pop();
        push(top);
        push(third);
        return push(second), true;
      }
      default:
        return false;
    }
  }
  void pick(std::size_t below) { below < count_ ? push(values_[count_ - 1 - below]) : fail(); }

  // 2.5.1.4, arithmetic and logical operations with one operand, and the only way to memory:
  // DW_OP_deref (2.5.1.3) reads the copied stack, and nothing else is known.
  bool unary(std::uint8_t operation) {
    switch (operation) {
      case DW_OP_deref:
        return push_known(stack_.word(pop())), true;
      case DW_OP_neg:
        return push(0 - pop()), true;
      case DW_OP_not:
        return push(~pop()), true;
      case DW_OP_abs: {
        const std::uint64_t value = pop();
        return push((value >> 63U) != 0 ? 0 - value : value), true;
      }
      case DW_OP_plus_uconst:
        return push(pop() + reader_.uleb()), true;
      default:
        return false;
    }
  }

  // 2.5.1.5, control flow: the distance counts from behind its own two bytes.
  bool jump(std::uint8_t operation) {
    if (operation != DW_OP_skip && operation != DW_OP_bra) return false;
    const std::int64_t distance = reader_.number<std::int16_t>();
    const bool does = operation == DW_OP_skip || pop() != 0;
    const std::int64_t target = static_cast<std::int64_t>(reader_.at()) + distance;
    if (target < 0 || !reader_.ok()) {
      fail();
    } else if (does) {
      reader_ = ByteReader(expression_, static_cast<std::size_t>(target));
    }
    return true;
  }

  // 2.5.1.4 and comparisons of 2.5.1.5, with two operands: the first one was pushed first. Division
  // is signed, the remainder is not; shifts by 64 and more are ours to define, for C++ does not.
  void binary(std::uint8_t operation) {
    const std::uint64_t b = pop();
    const std::uint64_t a = pop();
    const auto signed_a = static_cast<std::int64_t>(a);
    const auto signed_b = static_cast<std::int64_t>(b);
    switch (operation) {
      case DW_OP_and:
        return push(a & b);
      case DW_OP_or:
        return push(a | b);
      case DW_OP_xor:
        return push(a ^ b);
      case DW_OP_plus:
        return push(a + b);
      case DW_OP_minus:
        return push(a - b);
      case DW_OP_mul:
        return push(a * b);
      case DW_OP_mod:
        return b == 0 ? fail() : push(a % b);
      // The smallest number divided by -1 would end the process.
      case DW_OP_div:
        return b == 0 || b == ~std::uint64_t{0} ? fail() : push(extended(signed_a / signed_b));
      case DW_OP_shl:
        return push(b < 64 ? a << b : 0);
      case DW_OP_shr:
        return push(b < 64 ? a >> b : 0);
      case DW_OP_shra:
        return push(extended(signed_a >> (b < 64 ? b : 63)));
      case DW_OP_eq:
        return push(a == b ? 1 : 0);
      case DW_OP_ne:
        return push(a != b ? 1 : 0);
      case DW_OP_lt:
        return push(signed_a < signed_b ? 1 : 0);
      case DW_OP_le:
        return push(signed_a <= signed_b ? 1 : 0);
      case DW_OP_gt:
        return push(signed_a > signed_b ? 1 : 0);
      case DW_OP_ge:
        return push(signed_a >= signed_b ? 1 : 0);
      default:
        return fail();
    }
  }

  std::string_view expression_;
  ByteReader reader_;
  const Registers& registers_;
  const StackCopy& stack_;
  std::array<std::uint64_t, 64> values_{};
  std::size_t count_ = 0;
  bool ok_ = true;
};

}  // namespace

std::optional<std::uint64_t> evaluate(std::string_view expression, const Registers& registers,
                                      const StackCopy& stack, std::optional<std::uint64_t> first) {
  return Evaluation(expression, registers, stack).run(first);
}

}  // namespace fathom::symbols
