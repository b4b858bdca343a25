// SPDX-License-Identifier: MIT
// Names of Rust's functions, as its compiler writes them: the older scheme, which looks like C++,
// and "v0" (RFC 2603).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fathom {

// The path that a programmer knows, without hashes; nullopt: no such name.
[[nodiscard]] std::optional<std::string> demangle_rust(std::string_view name);

}  // namespace fathom
