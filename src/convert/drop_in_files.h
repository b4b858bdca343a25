// SPDX-License-Identifier: MIT
// The files that programs expect which were made for another tool.
#pragma once

#include <string>

#include "session/drop_in_wishes.h"
#include "session/stream/row_stream.h"

namespace fathom::convert {

// Where the user wants them now, whatever programs wanted; "": nowhere else than those did.
struct DropInOptions {
  std::string dftracer;  // the prefix of the files
  std::string alnair;    // the directory
  bool ended = false;    // programs that cannot be seen from here have ended: the caller knows
};

struct DropInOutcome {
  session::StreamOutcome stream;
  bool some_missing = false;  // a program wants files, and nobody who may say so says where
};

// Writes them until the last program has ended, or a signal ends us (row_stream.h). A recording
// that was for them alone is gone then. After an Error, what was not written is still in the spool:
// who collects later goes on there. Call before any other thread is started.
Result<DropInOutcome> write_drop_in_files(const std::string& directory,
                                          const session::DropInWishes& wishes,
                                          const DropInOptions& options);

}  // namespace fathom::convert
