// SPDX-License-Identifier: MIT
// Bounds on questions to a recording, for the whole process: a signal or a deadline ends a question
// that is being answered, its temporary files go with it, and memory is watched. Without it DuckDB
// would leave its files behind on Ctrl-C, and run for years where a statement asks for that.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/store.h"
#include "base/result.h"
#include "cli/parser.h"

namespace fathom::cli {

struct QuestionLimits {
  std::uint64_t memory_bytes = 0;  // of this process, the database included; 0: half of what it may
  std::int64_t timeout_ns = 0;     // 0: none
  bool has_option = false;         // whether the command takes --memory
};

// "--timeout 30s" as nanoseconds. What is no limit is a usage error.
Result<std::int64_t> timeout_of(const std::string& text);
// Of a command with --memory, whose text this is.
Result<QuestionLimits> memory_limits(const Parser& parser, const std::string& memory);

// From now on SIGINT, SIGTERM and SIGHUP end questions, and the time counts. Call before the store
// is opened, since its threads must not take these signals. Later calls change nothing.
void guard_questions(const QuestionLimits& limits = {});
// What of its memory the database may take; the rest is for rows in our own hands. For
// StoreOptions::memory.
[[nodiscard]] std::string memory_of_store();
// Questions to this store are ended, too. From the first such call on memory is watched.
void guard_store(const analysis::Store& store);

// While our own output waits for whoever reads it, the time of the question stands still.
class OutputPause {
 public:
  OutputPause();
  ~OutputPause();
  OutputPause(const OutputPause&) = delete;
  OutputPause& operator=(const OutputPause&) = delete;
};

// The reason that the user is told: a limit that ended the question, or what the error says itself.
[[nodiscard]] Error explained(Error error);
// The signal that ended a question; 0: none did.
[[nodiscard]] int question_stopped_by();

}  // namespace fathom::cli
