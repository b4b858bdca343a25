// SPDX-License-Identifier: MIT
// Expressions of DWARF's call frame information: those of procedure linkage tables, of signal
// frames, of hand-written assembler.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "symbols/unwind/registers.h"
#include "symbols/unwind/stack_copy.h"

namespace fathom::symbols {

// What is left on top. `first` lies on the expression's stack when it begins. nullopt: it asks for
// what is not known, is damaged, or does not end.
[[nodiscard]] std::optional<std::uint64_t> evaluate(std::string_view expression,
                                                    const Registers& registers,
                                                    const StackCopy& stack,
                                                    std::optional<std::uint64_t> first);

}  // namespace fathom::symbols
