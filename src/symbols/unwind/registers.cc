// SPDX-License-Identifier: MIT
// perf numbers the registers of x86 in an order of its own, those of aarch64 as DWARF does.
#include "symbols/unwind/registers.h"

namespace fathom::symbols {
namespace {

constexpr std::uint8_t kNoRegister = 255;
constexpr std::uint8_t kPc = 254;

// By the bit of perf's mask: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 … r15.
constexpr std::uint8_t kOfX86[] = {
    0,   3,           2,           1,           4,           5,           6,           7,
    kPc, kNoRegister, kNoRegister, kNoRegister, kNoRegister, kNoRegister, kNoRegister, kNoRegister,
    8,   9,           10,          11,          12,          13,          14,          15};
constexpr unsigned int kPcOfArm = 32;

std::uint8_t number_of(Machine machine, unsigned int bit) {
  if (machine == Machine::kX86) return bit < std::size(kOfX86) ? kOfX86[bit] : kNoRegister;
  if (bit == kPcOfArm) return kPc;
  return bit < kPcOfArm ? static_cast<std::uint8_t>(bit) : kNoRegister;
}

}  // namespace

std::optional<Registers> Registers::of_perf(Machine machine, std::uint64_t mask,
                                            std::span<const std::uint64_t> values) {
  Registers registers;
  registers.machine = machine;
  std::size_t next = 0;
  bool has_pc = false;
  for (unsigned int bit = 0; bit < 64 && next < values.size(); ++bit) {
    if (((mask >> bit) & 1U) == 0) continue;
    const std::uint64_t value = values[next++];
    const std::uint8_t number = number_of(machine, bit);
    if (number == kPc) {
      registers.pc = value;
      has_pc = true;
    } else if (number != kNoRegister) {
      registers.set(number, value);
    }
  }
  if (!has_pc || !registers.get(registers.sp_number())) return std::nullopt;
  return registers;
}

std::uint64_t perf_register_mask(Machine machine) {
  std::uint64_t mask = 0;
  for (unsigned int bit = 0; bit < 64; ++bit)
    if (number_of(machine, bit) != kNoRegister) mask |= std::uint64_t{1} << bit;
  return mask;
}

}  // namespace fathom::symbols
