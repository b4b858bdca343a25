// SPDX-License-Identifier: MIT
// Functions that have a body for each kind of CPU (IFUNCs): their symbol leads to code that
// chooses one when a program is loaded, and that is all that would be counted there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::sources::ebpf {

// What was chosen on this machine of a library that this process has loaded itself, so that the
// choice is made; nothing is loaded for it. By names, with "@VERSION" where that is not the
// default.
// Keeps copies: nothing of it depends on the file afterwards.
class ChosenCode {
 public:
  // kUnsupported where this process has not loaded the file.
  static Result<ChosenCode> of(const std::string& file, const std::vector<std::string>& names);

  // Where it lies in the file; an error where it lies in none (the kernel's vDSO).
  [[nodiscard]] Result<std::uint64_t> place(const std::string& name) const;
  // Others of the names that lead there, too: calls of all of them are counted together.
  [[nodiscard]] std::vector<std::string> same_as(const std::string& name) const;

 private:
  std::map<std::string, std::uint64_t> places_;  // those that lie in the file
};

}  // namespace fathom::sources::ebpf
