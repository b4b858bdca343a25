// SPDX-License-Identifier: MIT
// How functions of Go begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::sources::ebpf {

// Bytes from the begin of a function to behind the question whether the stack has room for it.
// Where it has not, the function begins again on another stack: a probe at its begin would count
// the call twice. 0: it does not ask, or in a way that is not known.
std::size_t stack_check_of(std::string_view code);
// Of a function at this place of a file.
std::size_t stack_check_at(const std::string& file, std::uint64_t offset);

}  // namespace fathom::sources::ebpf
