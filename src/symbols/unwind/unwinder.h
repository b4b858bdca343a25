// SPDX-License-Identifier: MIT
// The calls that led to where a thread was, from its registers and a copy of its stack: by call
// frame information, and by frame pointers in code that has none (JITs, Go, some assembler).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "symbols/overlay_map.h"
#include "symbols/unwind/frame_table.h"
#include "symbols/unwind/registers.h"
#include "symbols/unwind/stack_copy.h"

namespace fathom::symbols {

// What a process has mapped that can be run, as of some moment: add what it maps, in that order.
class AddressSpace {
 public:
  // `own` is the file's own address of the first byte (Module::address_of(file offset)); no table
  // for code without a file.
  void add(std::uint64_t begin, std::uint64_t end, std::uint64_t own, FrameTable* table) {
    maps_.put(begin, end, {begin - own, table});
  }
  void remove(std::uint64_t begin, std::uint64_t end) { maps_.remove(begin, end); }

  [[nodiscard]] bool has(std::uint64_t address) const { return maps_.find(address).has_value(); }
  [[nodiscard]] const FrameRules* rules_at(std::uint64_t address, Machine machine) const {
    const auto map = maps_.find(address);
    if (!map || map->value->table == nullptr || map->value->table->machine() != machine)
      return nullptr;
    return map->value->table->find(address - map->value->bias);
  }

 private:
  struct Map {
    std::uint64_t bias = 0;  // address minus the file's own
    FrameTable* table = nullptr;
  };
  OverlayMap<Map> maps_;
};

// Why there are no more frames.
enum class UnwindEnd : std::uint8_t {
  kWhole,    // the outermost function was reached
  kCut,      // the copy of the stack ends here; callers are missing
  kNoRules,  // code that has no call frame information, nor a frame pointer that leads on
  kDamaged,  // rules lead nowhere: not up the stack
  kLimit,    // as many frames as were asked for
};

// One frame: where it was, or where it goes on when its callee returns.
struct UnwoundFrame {
  std::uint64_t address = 0;
  // Behind a call: whoever looks for its function and line asks for the byte before.
  bool is_return = false;

  [[nodiscard]] std::uint64_t place() const { return address - (is_return ? 1 : 0); }
};

constexpr std::size_t kMostUnwound = 16384;

// Innermost first. `frames` is overwritten.
UnwindEnd unwind(const Registers& registers, const StackCopy& stack, const AddressSpace& space,
                 std::vector<UnwoundFrame>& frames, std::size_t most = kMostUnwound);

// As it was in each frame: of registers that callees may overwrite only the innermost frame's are
// true.
using SeeRegisters = std::function<void(const UnwoundFrame& frame, const Registers& registers)>;
UnwindEnd unwind(const Registers& registers, const StackCopy& stack, const AddressSpace& space,
                 std::vector<UnwoundFrame>& frames, const SeeRegisters& see,
                 std::size_t most = kMostUnwound);
// Whether nobody called the function there, as its rules say: `_start`, the start of a thread.
bool is_outermost(const UnwoundFrame& frame, const AddressSpace& space, Machine machine);

}  // namespace fathom::symbols
