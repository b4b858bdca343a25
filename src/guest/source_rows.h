// SPDX-License-Identifier: MIT
// The rows of wire/sources.h as guest code uses them. Names lie in the row itself: pointers would
// have to be relocated at the start of every program.
#pragma once

#include "wire/sources.h"

namespace fathom::guest {

// One row, as a constant.
struct SourceRow {
  fathom_source source;
  fathom_source needs;
  char layer[16];
  unsigned first_kind;
  unsigned kinds;
  unsigned flags;   // FATHOM_LAYER_…
  unsigned brings;  // FATHOM_BRINGS_…
};

// By number, from 1 on.
inline constexpr SourceRow kSourceRows[] = {
#define ROW(number, NAME, space, layer, rank, colour, what, first, kinds, needs, flags, brings, \
            ...)                                                                                \
  {FATHOM_SOURCE_##NAME, FATHOM_SOURCE_##needs, layer, first, kinds, flags, brings},
    FATHOM_SOURCE_ROWS(ROW)
#undef ROW
};

// FATHOM_SOURCE_RUNTIME has none.
constexpr const SourceRow& row_of(fathom_source source) { return kSourceRows[source - 1]; }

}  // namespace fathom::guest
