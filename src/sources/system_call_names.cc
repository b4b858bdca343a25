// SPDX-License-Identifier: MIT
// The table is made from <sys/syscall.h> when the project is configured.
#include "sources/system_call_names.h"

#include <sys/syscall.h>

namespace fathom::sources {
namespace {

constexpr SystemCallName kNames[] = {
#include <syscall_names.inc>
};

}  // namespace

std::span<const SystemCallName> system_call_names() { return kNames; }

std::string_view system_call_name(std::int64_t number) {
  for (const SystemCallName& one : kNames) {
    if (one.number == number) return one.name;
  }
  return "";
}

}  // namespace fathom::sources
