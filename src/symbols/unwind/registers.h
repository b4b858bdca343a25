// SPDX-License-Identifier: MIT
// Registers of a thread, by the numbers that DWARF gives them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace fathom::symbols {

enum class Machine : std::uint8_t { kX86, kAarch64 };

#if defined(__x86_64__)
inline constexpr Machine kThisMachine = Machine::kX86;
#else
inline constexpr Machine kThisMachine = Machine::kAarch64;
#endif

constexpr std::size_t kRegisters = 33;  // as many as aarch64 has, with its pc

// A value: those of one frame. A register that nobody knows has no number, which is not the same as
// 0.
struct Registers {
  Machine machine = Machine::kX86;
  std::uint64_t pc = 0;
  std::array<std::uint64_t, kRegisters> values{};
  std::uint64_t known = 0;  // a bit for each of them

  [[nodiscard]] std::optional<std::uint64_t> get(std::uint64_t number) const {
    if (number >= kRegisters || ((known >> number) & 1U) == 0) return std::nullopt;
    return values[number];
  }
  void set(std::uint64_t number, std::uint64_t value) {
    if (number >= kRegisters) return;
    values[number] = value;
    known |= std::uint64_t{1} << number;
  }
  void forget(std::uint64_t number) { known &= ~(std::uint64_t{1} << number); }

  [[nodiscard]] std::uint64_t sp_number() const { return machine == Machine::kX86 ? 7 : 31; }
  [[nodiscard]] std::uint64_t fp_number() const { return machine == Machine::kX86 ? 6 : 29; }

  // Whether a function gives a register back as it got it.
  [[nodiscard]] bool is_kept(std::uint64_t number) const {
    if (machine == Machine::kAarch64) return number >= 19 && number <= 29;
    return number == 3 || number == 6 || (number >= 12 && number <= 15);
  }

  // As PERF_SAMPLE_REGS_USER gives them: the values of the mask's bits (PERF_REG_X86_…,
  // PERF_REG_ARM64_…), in order. nullopt without pc or stack pointer.
  static std::optional<Registers> of_perf(Machine machine, std::uint64_t mask,
                                          std::span<const std::uint64_t> values);
};

// The mask to ask perf_event_open for: all that unwinding can use.
[[nodiscard]] std::uint64_t perf_register_mask(Machine machine);

}  // namespace fathom::symbols
