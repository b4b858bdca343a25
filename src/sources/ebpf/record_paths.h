// SPDX-License-Identifier: MIT
// Paths out of the kernel half's records of files: it walks a file's directories upwards and sends
// the components as it met them, since it may neither allocate nor loop as long as it wants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sources/ebpf/shared.h"

namespace fathom::sources::ebpf {

// A path as the kernel's half walked it: components from the last to the first, each ended by NUL.
// "pipe [7]", "socket [7]" or "anon_inode [7]" of what is no file.
std::string path_of(const fathom_file_record& record);

// Whether path_of() gave this of what is no file.
bool is_channel(std::string_view path);

// Where a device's file system is mounted, by a text like /proc/self/mountinfo; "" where it is not,
// or at the root of all.
std::string mount_point(std::uint32_t device, std::string_view mountinfo);

}  // namespace fathom::sources::ebpf
