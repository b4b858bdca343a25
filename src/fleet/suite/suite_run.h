// SPDX-License-Identifier: MIT
// A suite from its first submit to its last result. Whatever an executor loses (a node, a queue
// item) is done again, once; the result that counts is the one of the attempt that brought it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "fleet/executors/executor.h"
#include "fleet/suite/suite_spec.h"

namespace fathom::fleet {

// What became of one work, over all of its attempts.
struct ItemResult {
  SuiteItem item;
  std::vector<std::string> ids;   // of its attempts, at most two
  std::vector<std::string> lost;  // why earlier attempts came to nothing
  std::string host;
  std::optional<WorkOutcome> outcome;  // none: lost twice, or cancelled
  bool accepted = false;  // the check of its instructions calls it a success, whatever its status

  [[nodiscard]] bool has_failed() const { return outcome && outcome->exit != 0 && !accepted; }
};

// All works, in the order of the suite, whether or not they came to an end.
struct SuiteResult {
  std::string run;  // its id
  std::vector<ItemResult> items;
  bool cancelled = false;

  [[nodiscard]] std::size_t ended() const;
  [[nodiscard]] std::size_t failed() const;  // another exit status than 0, which no check accepts
  [[nodiscard]] std::size_t lost() const;    // nobody knows how they would have ended
  [[nodiscard]] std::size_t redone() const;
};

// Called by the thread that runs the suite, which sleeps in `wait`.
struct SuiteHooks {
  // Waits until something may have happened, for so long at most; true: somebody wants us to end.
  std::function<bool(int wait_ms)> wait;
  std::function<void(const SuiteResult& so_far, std::size_t running)> progress;
};

// What a run of a suite is given beside its file.
struct SuitePlan {
  std::string run;     // an id that nobody else has
  std::string folder;  // for the places of works
  std::string fathom;  // the program, as those who work see it
  std::string server;  // for agents; "": where they find it themselves
};

// An Error means that nothing is left running. Works that fail are no error.
Result<SuiteResult> run_suite(const SuiteSpec& spec, Executor& executor, const SuitePlan& plan,
                              const SuiteHooks& hooks);

// Where the results of an image's work lie, which has ended; "": there are none.
[[nodiscard]] std::string profile_folder(const SuitePlan& plan, const SuiteResult& result,
                                         std::size_t number);

// A work in one line: the benchmark's name and its parameters.
[[nodiscard]] std::string item_name(const SuiteSpec& spec, const SuiteItem& item);

// For programs: every work; for people: a line for each benchmark and its parameters.
[[nodiscard]] Value suite_object(const SuiteSpec& spec, const SuiteResult& result);
[[nodiscard]] Table suite_table(const SuiteSpec& spec, const SuiteResult& result);

}  // namespace fathom::fleet
