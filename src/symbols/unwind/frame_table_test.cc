// SPDX-License-Identifier: MIT
// Call frame information that a test wrote by hand: of the other architecture, and damaged.
#include "symbols/unwind/frame_table.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "symbols/testing/elf_image.h"
#include "symbols/unwind/unwinder.h"

namespace fathom::symbols {
namespace {

using symbols::testing::ElfImage;

constexpr std::uint64_t kSection = 0x3000;

std::string bytes_of(std::initializer_list<int> numbers) {
  std::string text;
  for (const int number : numbers) text += static_cast<char>(number);
  return text;
}

template <class Number>
std::string number(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// .eh_frame of functions that have one CIE, with addresses relative to where they stand.
class EhFrame {
 public:
  explicit EhFrame(const std::string& common) { put(number(std::uint32_t{0}) + common); }
  EhFrame& function(std::uint32_t begin, std::uint32_t size, const std::string& code) {
    const auto here = static_cast<std::uint32_t>(bytes_.size() + 4);
    const auto address = static_cast<std::uint32_t>(kSection + here + 4);
    put(number(here) + number(begin - address) + number(size) + '\0' + code);
    return *this;
  }
  [[nodiscard]] FrameTable table(Elf64_Half machine) const {
    ElfImage image;
    image.add(".eh_frame", bytes_, kSection);
    return FrameTable::of_image(image.bytes(machine), "test").value();
  }

 private:
  void put(const std::string& record) {
    bytes_ += number(static_cast<std::uint32_t>(record.size())) + record;
  }
  std::string bytes_;
};

// Version, "zR", steps of code and data, the return address's number, its encoding, CFA = sp.
std::string common_of_arm() {
  return bytes_of({1, 'z', 'R', 0, 4, 0x78, 30, 1, 0x1b, DW_CFA_def_cfa, 31, 0});
}
std::string common_of_x86() {
  return bytes_of(
      {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1});
}

// leaf (no frame) <- caller (saves x29 and x30, signed) <- start (no caller).
EhFrame frames_of_arm() {
  return EhFrame(common_of_arm())
      .function(0x1000, 0x10, "")
      .function(0x1010, 0x30,
                bytes_of({DW_CFA_advance_loc | 1, 0x2d, DW_CFA_def_cfa_offset, 32,
                          DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3}))
      .function(0x1040, 0x40, bytes_of({DW_CFA_undefined, 30}));
}

TEST(FrameTable, ALeafOfAarch64HasItsCallerInARegister) {
  FrameTable table = frames_of_arm().table(EM_AARCH64);
  EXPECT_EQ(table.machine(), Machine::kAarch64);
  AddressSpace space;
  const std::uint64_t bias = 0x550000000000;
  space.add(bias + 0x1000, bias + 0x2000, 0x1000, &table);
  Registers registers;
  registers.machine = Machine::kAarch64;
  registers.pc = bias + 0x1004;
  registers.set(29, 0x7777);
  registers.set(30, bias + 0x1020);
  registers.set(31, 0x8000);
  const std::uint64_t signature = 0x00ab000000000000;
  const std::string stack =
      number(std::uint64_t{0x9990}) + number(bias + 0x1050 + signature) + std::string(16, '\0');
  std::vector<UnwoundFrame> frames;
  EXPECT_EQ(unwind(registers, {0x8000, stack}, space, frames), UnwindEnd::kWhole);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].address, bias + 0x1004);
  EXPECT_EQ(frames[1].address, bias + 0x1020);
  EXPECT_EQ(frames[2].address, bias + 0x1050);
  EXPECT_FALSE(frames[0].is_return);
  EXPECT_TRUE(frames[1].is_return && frames[2].is_return);
  registers.machine = Machine::kX86;  // another machine's rules are not used
  EXPECT_EQ(unwind(registers, {0x8000, stack}, space, frames), UnwindEnd::kNoRules);
}

TEST(FrameTable, CodeOfAarch64WithoutRulesHasFramePointers) {
  AddressSpace space;
  space.add(0x1000, 0x2000, 0, nullptr);
  Registers registers;
  registers.machine = Machine::kAarch64;
  registers.pc = 0x1004;
  registers.set(29, 0x8010);
  registers.set(31, 0x8000);
  const std::string stack = std::string(16, '\0') + number(std::uint64_t{0x8020}) +
                            number(std::uint64_t{0x1100}) + number(std::uint64_t{0}) +
                            number(std::uint64_t{0});
  std::vector<UnwoundFrame> frames;
  EXPECT_EQ(unwind(registers, {0x8000, stack}, space, frames), UnwindEnd::kWhole);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1].address, 0x1100U);
}

TEST(FrameTable, RowsHoldFromOneAdvanceToTheNext) {
  FrameTable table =
      EhFrame(common_of_x86())
          .function(0x1000, 0x20,
                    bytes_of({DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6,
                              2, DW_CFA_remember_state, DW_CFA_advance_loc1, 7, DW_CFA_def_cfa, 7,
                              8, DW_CFA_advance_loc2, 1, 0, DW_CFA_restore_state}))
          .table(EM_X86_64);
  const auto offset_at = [&](std::uint64_t address) {
    const FrameRules* rules = table.find(address);
    return rules == nullptr ? -1 : rules->cfa_offset;
  };
  EXPECT_EQ(offset_at(0xfff), -1);
  EXPECT_EQ(offset_at(0x1000), 8);
  EXPECT_EQ(offset_at(0x1001), 16);
  EXPECT_EQ(offset_at(0x1007), 16);
  EXPECT_EQ(offset_at(0x1008), 8);
  EXPECT_EQ(offset_at(0x1009), 16);
  EXPECT_EQ(offset_at(0x101f), 16);
  EXPECT_EQ(offset_at(0x1020), -1);
  EXPECT_EQ(table.find(0x1009)->saved.size(), 2U);
}

TEST(FrameTable, BehindDamageNothingIsKnown) {
  FrameTable table = EhFrame(common_of_x86())
                         .function(0x1000, 0x20, bytes_of({DW_CFA_advance_loc | 4, 0x3f}))
                         .function(0x1020, 0x20, bytes_of({DW_CFA_restore_state}))
                         .function(0x1040, 0x20, bytes_of({DW_CFA_def_cfa, 0xff, 1, 8}))
                         .table(EM_X86_64);
  EXPECT_NE(table.find(0x1003), nullptr);
  EXPECT_EQ(table.find(0x1004), nullptr);
  EXPECT_EQ(table.find(0x1020), nullptr);
  EXPECT_EQ(table.find(0x1040), nullptr);
  EXPECT_EQ(table.functions(), 3U);
}

// In a stub of a procedure linkage table the return address is one or two words up, by where pc is.
TEST(FrameTable, StubsHaveAnExpression) {
  FrameTable table = EhFrame(common_of_x86())
                         .function(0x1000, 0x20,
                                   bytes_of({DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8,
                                             DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
                                             DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus}))
                         .function(0x1020, 0x20, bytes_of({DW_CFA_undefined, 16}))
                         .table(EM_X86_64);
  AddressSpace space;
  space.add(0x1000, 0x2000, 0x1000, &table);
  const std::string stack = number(std::uint64_t{0x1024}) + number(std::uint64_t{0x1034});
  std::vector<UnwoundFrame> frames;
  for (const auto& [pc, caller] : {std::pair(0x1006U, 0x1024U), std::pair(0x100bU, 0x1034U)}) {
    Registers registers;
    registers.pc = pc;
    registers.set(7, 0x8000);
    EXPECT_EQ(unwind(registers, {0x8000, stack}, space, frames), UnwindEnd::kWhole);
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[1].address, caller);
  }
}

// The CFA of each frame is the one before: the walk has to see that it stands still.
TEST(FrameTable, RulesThatLeadNowhereEnd) {
  FrameTable table = EhFrame(common_of_x86())
                         .function(0x1000, 0x20, bytes_of({DW_CFA_def_cfa_offset, 0}))
                         .table(EM_X86_64);
  AddressSpace space;
  space.add(0x1000, 0x2000, 0x1000, &table);
  Registers registers;
  registers.pc = 0x1004;
  registers.set(7, 0x8008);
  const std::string stack(64, '\x10');
  std::vector<UnwoundFrame> frames;
  EXPECT_EQ(unwind(registers, {0x8000, stack}, space, frames), UnwindEnd::kDamaged);
  EXPECT_EQ(frames.size(), 1U);
}

// The linker leaves such records where it threw a function away; others are damage.
TEST(FrameTable, FunctionsWithoutAPlaceAreLeftOut) {
  FrameTable table = EhFrame(common_of_x86())
                         .function(0, 0x20, "")
                         .function(0x1000, 0, "")
                         .function(0xfffff000, 0x2000, "")  // is signed: runs over the last address
                         .function(0x1040, 0x20, "")
                         .table(EM_X86_64);
  EXPECT_EQ(table.functions(), 1U);
  EXPECT_EQ(table.find(0x1000), nullptr);
  EXPECT_NE(table.find(0x1040), nullptr);
}

TEST(FrameTable, OfAnotherMachineIsSaid) {
  ElfImage image;
  const Result<FrameTable> table = FrameTable::of_image(image.bytes(EM_PPC64), "test");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace fathom::symbols
