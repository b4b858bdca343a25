// SPDX-License-Identifier: MIT
#include "symbols/unwind/expression.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>

namespace fathom::symbols {
namespace {

std::string code(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

class Expression : public ::testing::Test {
 protected:
  [[nodiscard]] std::optional<std::uint64_t> run(const std::string& text,
                                                 std::optional<std::uint64_t> first = {}) const {
    return evaluate(text, registers_, {0x8000, stack_}, first);
  }
  void SetUp() override {
    registers_.set(7, 0x8000);
    registers_.set(16, 0x4011);
    stack_ = std::string("\x2a\0\0\0\0\0\0\0", 8) + std::string(8, '\1');
  }
  Registers registers_;
  std::string stack_;
};

// Of every lazy procedure linkage table: 8 or 16 bytes, by where in a stub of 16 bytes pc is.
TEST_F(Expression, OfProcedureLinkageTables) {
  const std::string plt = code({DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
                                DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus});
  EXPECT_EQ(run(plt), 0x8008U);
  registers_.set(16, 0x401b);
  EXPECT_EQ(run(plt), 0x8010U);
}

TEST_F(Expression, ReadsTheStackThatWasCopied) {
  EXPECT_EQ(run(code({DW_OP_breg7, 0, DW_OP_deref})), 42U);
  EXPECT_EQ(run(code({DW_OP_breg7, 8, DW_OP_deref})), 0x0101010101010101U);
  EXPECT_EQ(run(code({DW_OP_breg7, 9, DW_OP_deref})), std::nullopt);
  EXPECT_EQ(run(code({DW_OP_breg7, 0x7f, DW_OP_deref})), std::nullopt);
}

TEST_F(Expression, Computes) {
  struct Case {
    std::initializer_list<int> code;
    std::uint64_t want;
  };
  const Case cases[] = {
      {{DW_OP_lit7, DW_OP_lit2, DW_OP_minus}, 5},
      {{DW_OP_lit7, DW_OP_lit2, DW_OP_swap, DW_OP_minus}, ~std::uint64_t{0} - 4},
      {{DW_OP_lit7, DW_OP_lit2, DW_OP_mul, DW_OP_lit4, DW_OP_div}, 3},
      {{DW_OP_lit7, DW_OP_lit4, DW_OP_mod}, 3},
      {{DW_OP_const1s, 0xff, DW_OP_neg}, 1},
      {{DW_OP_const1s, 0xf8, DW_OP_lit1, DW_OP_shra, DW_OP_abs}, 4},
      {{DW_OP_lit16, DW_OP_lit2, DW_OP_shr}, 4},
      {{DW_OP_lit16, DW_OP_const1u, 64, DW_OP_shr}, 0},
      {{DW_OP_lit1, DW_OP_const1u, 64, DW_OP_shl}, 0},
      {{DW_OP_const2u, 0x34, 0x12, DW_OP_plus_uconst, 0x80, 1}, 0x12b4},
      {{DW_OP_consts, 0x7f, DW_OP_lit0, DW_OP_lt}, 1},
      {{DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop}, 1},
      {{DW_OP_lit1, DW_OP_lit2, DW_OP_over, DW_OP_xor}, 3},
      {{DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit9, DW_OP_lit5}, 5},
      {{DW_OP_lit6, DW_OP_skip, 1, 0, DW_OP_lit9}, 6},
  };
  for (const Case& one : cases) EXPECT_EQ(run(code(one.code)), one.want);
  EXPECT_EQ(run(code({DW_OP_plus_uconst, 8}), 100), 108U);
}

TEST_F(Expression, EndsAndAsksForNothingUnknown) {
  const std::initializer_list<int> cases[] = {
      {},                        // nothing on top
      {DW_OP_skip, 0xfd, 0xff},  // for ever
      {DW_OP_lit1, DW_OP_dup, DW_OP_skip, 0xfc, 0xff},
      {DW_OP_skip, 0x80, 0x80},             // before the begin
      {DW_OP_plus},                         // of nothing
      {DW_OP_lit1, DW_OP_lit0, DW_OP_div},  // by nothing
      {DW_OP_lit1, DW_OP_lit0, DW_OP_mod},
      {DW_OP_breg0, 0},  // a register that is not known
      {DW_OP_bregx, 0xff, 0x7f, 0},
      {DW_OP_const8u, 1},  // cut
      {DW_OP_pick, 3},
      {0xff},
  };
  for (const auto& one : cases) EXPECT_EQ(run(code(one)), std::nullopt);
}

}  // namespace
}  // namespace fathom::symbols
