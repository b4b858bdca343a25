// SPDX-License-Identifier: MIT
// Runs the small programs of .eh_frame and .debug_frame (DWARF 5, section 6.4), which tell how
// rules change from one instruction of a function to the next. All rows of a function are made at
// once and kept: a function that is met in one sample is met in many. The bytes are of any file, so
// rows, registers and nesting have limits, and behind a damage nothing is known.
#include "symbols/unwind/frame_rules.h"

#include <dwarf.h>

#include <algorithm>

#include "symbols/byte_reader.h"
#include "symbols/unwind/pointer_encoding.h"

namespace fathom::symbols {
namespace {

// Of a function: more than compilers make of the longest ones, and not much memory.
constexpr std::size_t kMostRows = 1U << 16U;
constexpr std::size_t kMostSaved = 1U << 18U;  // in all rows of a function
constexpr std::size_t kMostRemembered = 32;
constexpr std::uint8_t kAarch64NegateState = 0x2d;  // also DW_CFA_GNU_window_save, of SPARC

using Kind = SavedRegister::Kind;

// One function's two programs: the common one of its CIE, then its own. What a step does not
// understand ends it.
class Program {
 public:
  explicit Program(const FrameProgram& program) : program_(program) {
    now_.begin = program.begin;
    now_.return_number = program.return_number;
    now_.is_signal = program.is_signal;
  }

  std::vector<FrameRules> run() {
    // What it leaves is where DW_CFA_restore goes back to.
    if (!run(program_.common, 0)) return {};
    now_.begin = program_.begin;
    initial_ = now_;
    rows_.clear();
    // Behind damage nothing is known.
    if (!run(program_.own, program_.own_address)) now_.is_defined = false;
    (void)emit();
    return std::move(rows_);
  }

 private:
  bool run(std::string_view code, std::uint64_t address) {
    ByteReader reader(code);
    while (!reader.done())
      if (!step(reader, address) || !reader.ok()) return false;
    return true;
  }

  // The row that ends here.
  bool emit() {
    saved_ += now_.saved.size();
    if (rows_.size() == kMostRows || saved_ > kMostSaved) return false;
    rows_.push_back(now_);
    return true;
  }

  bool advance(std::uint64_t steps) {
    const std::uint64_t distance = steps * program_.code_step;
    if (distance > program_.end - std::min(program_.end, now_.begin)) return false;
    if (distance == 0) return true;
    if (!emit()) return false;
    now_.begin += distance;
    return true;
  }

  void keep(std::uint64_t number, Kind kind, std::int64_t value = 0,
            std::string_view expression = {}) {
    if (number >= kRegisters) return;  // of vectors: no way leads over them
    restore_value(number);
    now_.saved.push_back({static_cast<std::uint8_t>(number), kind, value, expression});
  }
  void restore_value(std::uint64_t number) {
    std::erase_if(now_.saved, [&](const SavedRegister& one) { return one.number == number; });
  }
  void restore(std::uint64_t number) {
    restore_value(number);
    for (const SavedRegister& one : initial_.saved)
      if (one.number == number) now_.saved.push_back(one);
  }

  [[nodiscard]] std::int64_t scaled(std::int64_t value) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) *
                                     static_cast<std::uint64_t>(program_.data_step));
  }
  [[nodiscard]] std::int64_t scaled(std::uint64_t value) const {
    return scaled(static_cast<std::int64_t>(value));
  }

  bool set_cfa(std::uint64_t number, std::int64_t offset) {
    if (number >= kRegisters) return false;
    now_.cfa_number = static_cast<std::uint8_t>(number);
    now_.cfa_offset = offset;
    now_.cfa_expression = {};
    now_.is_defined = true;
    return true;
  }

  bool step(ByteReader& reader, std::uint64_t address) {
    const std::uint8_t code = reader.byte();
    const std::uint8_t low = code & 0x3fU;
    switch (code & 0xc0U) {
      case DW_CFA_advance_loc:
        return advance(low);
      case DW_CFA_offset:
        keep(low, Kind::kAtOffset, scaled(reader.uleb()));
        return true;
      case DW_CFA_restore:
        restore(low);
        return true;
      default:
        return move(code, reader, address) || cfa(code, reader) || save(code, reader);
    }
  }

  // Instructions that move on, or come back.
  bool move(std::uint8_t code, ByteReader& reader, std::uint64_t address) {
    switch (code) {
      case DW_CFA_nop:
        return true;
      case DW_CFA_set_loc: {
        const auto target = read_pointer(reader, program_.pointer_encoding, address);
        if (!target || *target < now_.begin || *target > program_.end || !emit()) return false;
        now_.begin = *target;
        return true;
      }
      case DW_CFA_advance_loc1:
        return advance(reader.byte());
      case DW_CFA_advance_loc2:
        return advance(reader.number<std::uint16_t>());
      case DW_CFA_advance_loc4:
        return advance(reader.number<std::uint32_t>());
      case DW_CFA_remember_state:
        // Compilers nest these once or twice.
        if (remembered_.size() == kMostRemembered) return false;
        remembered_.push_back(now_);
        return true;
      case DW_CFA_restore_state: {
        if (remembered_.empty()) return false;
        const std::uint64_t begin = now_.begin;
        // All but the place: the row goes on from here.
        now_ = std::move(remembered_.back());
        now_.begin = begin;
        remembered_.pop_back();
        return true;
      }
      case DW_CFA_GNU_args_size:
        (void)reader.uleb();
        return true;
      case kAarch64NegateState:  // the return address is signed; whoever reads it strips that
        return program_.machine == Machine::kAarch64;
      default:
        return false;
    }
  }

  // 6.4.2.2, where the frame lies. The _sf forms have offsets in steps of the CIE.
  bool cfa(std::uint8_t code, ByteReader& reader) {
    switch (code) {
      case DW_CFA_def_cfa: {
        const std::uint64_t number = reader.uleb();
        return set_cfa(number, static_cast<std::int64_t>(reader.uleb()));
      }
      case DW_CFA_def_cfa_sf: {
        const std::uint64_t number = reader.uleb();
        return set_cfa(number, scaled(reader.sleb()));
      }
      case DW_CFA_def_cfa_register:
        return set_cfa(reader.uleb(), now_.cfa_offset);
      case DW_CFA_def_cfa_offset:
        return set_cfa(now_.cfa_number, static_cast<std::int64_t>(reader.uleb()));
      case DW_CFA_def_cfa_offset_sf:
        return set_cfa(now_.cfa_number, scaled(reader.sleb()));
      case DW_CFA_def_cfa_expression:
        now_.cfa_expression = reader.bytes(reader.uleb());
        now_.is_defined = !now_.cfa_expression.empty();
        return true;
      default:
        return false;
    }
  }

  // 6.4.2.3, where registers lie.
  bool save(std::uint8_t code, ByteReader& reader) {
    switch (code) {
      case DW_CFA_offset_extended:
      case DW_CFA_offset_extended_sf:
      case DW_CFA_GNU_negative_offset_extended:
      case DW_CFA_val_offset:
      case DW_CFA_val_offset_sf:
        return save_offset(code, reader);
      case DW_CFA_expression:
      case DW_CFA_val_expression: {
        const std::uint64_t number = reader.uleb();
        const std::string_view expression = reader.bytes(reader.uleb());
        keep(number, code == DW_CFA_expression ? Kind::kAtExpression : Kind::kIsExpression, 0,
             expression);
        return true;
      }
      case DW_CFA_register: {
        const std::uint64_t number = reader.uleb();
        keep(number, Kind::kInRegister, static_cast<std::int64_t>(reader.uleb()));
        return true;
      }
      case DW_CFA_undefined:
        keep(reader.uleb(), Kind::kUndefined);
        return true;
      case DW_CFA_same_value:
        restore_value(reader.uleb());
        return true;
      case DW_CFA_restore_extended:
        restore(reader.uleb());
        return true;
      default:
        return false;
    }
  }

  bool save_offset(std::uint8_t code, ByteReader& reader) {
    const std::uint64_t number = reader.uleb();
    const bool is_signed = code == DW_CFA_offset_extended_sf || code == DW_CFA_val_offset_sf;
    std::int64_t offset = is_signed ? scaled(reader.sleb()) : scaled(reader.uleb());
    if (code == DW_CFA_GNU_negative_offset_extended)
      offset = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(offset));
    const bool is_value = code == DW_CFA_val_offset || code == DW_CFA_val_offset_sf;
    keep(number, is_value ? Kind::kIsOffset : Kind::kAtOffset, offset);
    return true;
  }

  const FrameProgram& program_;
  FrameRules now_;
  FrameRules initial_;
  std::vector<FrameRules> remembered_;
  std::vector<FrameRules> rows_;
  std::size_t saved_ = 0;
};

}  // namespace

std::vector<FrameRules> run_frame_program(const FrameProgram& program) {
  return Program(program).run();
}

}  // namespace fathom::symbols
