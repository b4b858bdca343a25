// SPDX-License-Identifier: MIT
// What the numbers of calls mean that the kernel's half counts by: names, and for system calls (of
// this machine's architecture) what their arguments and results are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sources/ebpf/shared.h"

namespace fathom::sources::ebpf {

std::string_view name_of_layer(fathom_bpf_layer layer);

// Of FATHOM_BPF_CALL(layer, number). System calls are called as strace prints them.
std::string name_of_call(std::uint32_t call);

// Whether it returns a number of bytes.
bool moves_bytes(std::uint32_t call);

// Bits of fathom_call_kind.
std::uint8_t kind_of_system_call(std::uint32_t number);

}  // namespace fathom::sources::ebpf
