// SPDX-License-Identifier: MIT
// Bounds on questions to a recording, for the whole process: a signal or a deadline ends a question
// that is being answered, its temporary files go with it, and memory is watched. Without it DuckDB
// would leave its files behind on Ctrl-C, and run for years where a statement asks for that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "analysis/store.h"
#include "base/result.h"
#include "cli/parser.h"

namespace fathom::cli {

struct QuestionLimits {
  std::uint64_t memory_bytes = 0;  // of this process, the database included; 0: half of what it may
  std::int64_t timeout_ns = 0;     // 0: none
  bool has_option = false;         // whether the command takes --memory
  std::string work = "the query";  // what is told to need more
};

// "--timeout 30s" as nanoseconds. What is no limit is a usage error.
Result<std::int64_t> timeout_of(const std::string& text);
// Of a command with --memory, whose text this is.
Result<QuestionLimits> memory_limits(const Parser& parser, const std::string& memory);

// From now on signals that end the process (SIGINT, SIGPIPE, …) end questions first and remove what
// is temporary, memory is watched and the time counts. Call before anything is read or imported,
// and before a store is opened, since its threads must not take these signals. Later calls change
// nothing.
void guard_questions(const QuestionLimits& limits = {});
// What of its memory the database may take; the rest is for rows in our own hands. For
// StoreOptions::memory.
[[nodiscard]] std::string memory_of_store();
// For a server, which ends its questions itself: a signal calls `stop` and does nothing else, and
// no limit ends the process any more.
void guard_server(std::function<void()> stop);
// Questions to this store are ended, too.
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
// As the signal would have ended us, had nobody cleaned up first.
[[noreturn]] void die_of(int signal);

}  // namespace fathom::cli
