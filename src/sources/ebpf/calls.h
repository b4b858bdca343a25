// SPDX-License-Identifier: MIT
// What the numbers of calls mean that the kernel's half counts by: names, and for system calls (of
// this machine's architecture) what their arguments and results are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/ebpf/shared.h"

namespace fathom::sources::ebpf {

// By their numbers, fathom_bpf_layer.
inline constexpr std::string_view kLayerNames[FATHOM_BPF_LAYERS] = {
    "syscall", "sched", "vfs", "fs", "pagecache", "block", "net", "user", "kernel"};
inline std::string_view name_of_layer(fathom_bpf_layer layer) { return kLayerNames[layer]; }

// Of FATHOM_BPF_CALL(layer, number). System calls are called as strace prints them.
std::string name_of_call(std::uint32_t call);

// Numbers of a layer's calls whose names are asked for; of layers user and kernel there are none.
std::vector<std::uint32_t> numbers_of_calls(fathom_bpf_layer layer,
                                            const std::function<bool(const std::string&)>& asked);

// As layer posix has them (read, write, open …); "" where it is of none.
std::string_view category_of_call(std::uint32_t call);

// Whether it is what a call that copies wrote to its second file.
bool is_target(std::uint32_t call);

// Whether it returns a number of bytes.
bool moves_bytes(std::uint32_t call);

// Bits of fathom_call_kind. FATHOM_BPF_NARROW in the number: of the table of 32 bits.
std::uint32_t kind_of_system_call(std::uint32_t number);
// Of all numbers of this machine, then of 32 bits. They are looked up once.
using CallKinds = std::array<std::uint32_t, std::size_t{2} * FATHOM_BPF_CALLS>;
const CallKinds& kinds_of_system_calls();

}  // namespace fathom::sources::ebpf
