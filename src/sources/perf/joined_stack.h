// SPDX-License-Identifier: MIT
// One stack out of two ways to walk it. Frame pointers skip the caller of a function that has none,
// and end where a function uses the register for something else; tables end with the copy of the
// stack. So what pointers found behind the last frame of the tables goes on there.
#pragma once

#include <vector>

#include "symbols/unwind/unwinder.h"

namespace fathom::sources {

using UnwoundStack = std::vector<symbols::UnwoundFrame>;  // innermost first

// The first frame of `by_pointers` that lies behind all of `by_tables`; the end where there is
// none. Pointers leave frames out and add none, so theirs are looked for in the tables' in order:
// where functions call themselves, the same address stands for many frames.
inline UnwoundStack::const_iterator behind(const UnwoundStack& by_tables,
                                           const UnwoundStack& by_pointers) {
  auto table = by_tables.begin();
  for (auto pointer = by_pointers.begin(); pointer != by_pointers.end(); ++pointer) {
    while (table != by_tables.end() && table->address != pointer->address) ++table;
    if (table == by_tables.end()) break;
    if (++table == by_tables.end()) return pointer + 1;
  }
  return by_pointers.end();
}

// For tables that did not come to the outermost function.
inline void join_stacks(UnwoundStack& by_tables, const UnwoundStack& by_pointers) {
  const auto rest = behind(by_tables, by_pointers);
  if (rest != by_pointers.end()) {
    by_tables.insert(by_tables.end(), rest, by_pointers.end());
  } else if (by_pointers.size() > by_tables.size()) {
    by_tables = by_pointers;
  }
}

}  // namespace fathom::sources
