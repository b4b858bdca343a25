// SPDX-License-Identifier: MIT
// How to get from a function to its caller, at one place of its code: what DWARF calls a row of
// call frame information.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/unwind/registers.h"

namespace fathom::symbols {

// How one register of the caller is got back.
struct SavedRegister {
  enum class Kind : std::uint8_t {
    kUndefined,     // lost; of the return address: there is no caller
    kAtOffset,      // lies at CFA + value
    kIsOffset,      // is CFA + value
    kInRegister,    // is in the register of that number
    kAtExpression,  // lies where the expression says
    kIsExpression,  // is what the expression says
  };
  std::uint8_t number = 0;  // of the register; those that are not named keep their values
  Kind kind = Kind::kUndefined;
  std::int64_t value = 0;
  std::string_view expression;
};

// CFA: the canonical frame address, where the stack pointer was before the call.
struct FrameRules {
  std::uint64_t begin = 0;      // holds from this address on, to the next row's
  std::uint8_t cfa_number = 0;  // register + offset,
  std::int64_t cfa_offset = 0;
  std::string_view cfa_expression;  // or this, where it is not empty
  bool is_defined = false;
  std::uint8_t return_number = 0;  // which register has the return address
  bool is_signal = false;          // the caller was interrupted: its pc is not behind a call
  std::vector<SavedRegister> saved;
};

// What a program of call frame information needs to know.
struct FrameProgram {
  Machine machine = Machine::kX86;
  std::uint64_t begin = 0;  // addresses of the function
  std::uint64_t end = 0;
  std::uint64_t code_step = 1;
  std::int64_t data_step = 1;
  std::uint8_t return_number = 0;
  std::uint8_t pointer_encoding = 0;
  bool is_signal = false;
  std::string_view common;  // instructions of the CIE, then those of the FDE
  std::string_view own;
  std::uint64_t own_address = 0;  // where `own` begins, for encodings that count from there
};

// Rows by address; the last one holds to the function's end. From where the program is damaged, or
// unlikely long, there is a row that is not defined, or the rows are none.
[[nodiscard]] std::vector<FrameRules> run_frame_program(const FrameProgram& program);

}  // namespace fathom::symbols
