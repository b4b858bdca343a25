// SPDX-License-Identifier: MIT
// Which function the driver gives for a name, a version and flags: as a real one answered.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace fake {

struct Answer {
  const char* name;
  std::uint64_t flags;
  int since;
  const char* symbol;
};
inline constexpr Answer kAnswers[] = {
#include "driver_answers.inc"
};

inline void* exported(const char* symbol) {
  static void* const self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&kAnswers), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return dlsym(self, symbol);
}

// Names that no hook is for are not in the list: they have one function each.
inline int resolve(const char* name, void** function, int version, std::uint64_t flags,
                   int* status) {
  constexpr std::uint64_t kPerThread = 2;
  constexpr int kInvalidValue = 1, kFound = 0, kUnknown = 1, kTooOld = 2;
  if (name == nullptr || function == nullptr) return kInvalidValue;
  const char* symbol = nullptr;
  bool known = false;
  for (const Answer& answer : kAnswers) {
    if (std::strcmp(answer.name, name) != 0) continue;
    known = true;
    if (answer.flags == (flags & kPerThread) && version >= answer.since) symbol = answer.symbol;
  }
  *function = known && symbol == nullptr ? nullptr : exported(known ? symbol : name);
  if (status != nullptr) *status = *function != nullptr ? kFound : known ? kTooOld : kUnknown;
  return 0;  // whatever it was asked for
}

}  // namespace fake
