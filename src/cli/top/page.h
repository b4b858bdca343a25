// SPDX-License-Identifier: MIT
// What a screen of `fathom top` shows, whoever made it. Names in it come from others: they are
// escaped when they are shown (screen.h, render).
#pragma once

#include <string>
#include <vector>

#include "base/table.h"

namespace fathom::cli::top {

// Made anew at each look: a snapshot, which is drawn, printed or tested.
struct Page {
  std::string title;              // one line: what is watched, and how it goes
  std::vector<std::string> head;  // further lines
  Table facts;                    // the same for programs: one row
  std::vector<Table> tables;
  // Of the rows of the first table: what Enter goes into. May be empty.
  std::vector<std::string> ids;
  std::string end;  // what is watched has ended: what to say last; "": it goes on
};

}  // namespace fathom::cli::top
