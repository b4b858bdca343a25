// SPDX-License-Identifier: MIT
// Wraps the C++ runtime's demangler, which allocates with malloc and reports failure by a status.
// Names that are neither C++ nor Rust pass unchanged.
#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/rust_names.h"

namespace fathom {

std::string demangle(const std::string& name) {
  if (std::optional<std::string> rust = demangle_rust(name)) return std::move(*rust);
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && plain != nullptr ? std::string(plain.get()) : name;
}

}  // namespace fathom
