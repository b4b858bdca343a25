// SPDX-License-Identifier: MIT
// The processes of a run whose rows are handed on (row_stream.h): what they told about themselves,
// whose a row is, and who has ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "session/stream/row_stream.h"
#include "trace/rows/clock.h"
#include "trace/rows/definitions.h"
#include "trace/spool/liveness.h"

namespace fathom::session {

// One thread at a time. Processes are never forgotten: a pointer to one stays valid as long as
// this.
class StreamProcesses {
 public:
  StreamProcesses(const fathom_run_header& run, const trace::Clock& clock);

  // What a decoder knows by now.
  void learn(const trace::Definitions& definitions, const trace::Clock& clock);
  // The image of the pid that ran then; nullptr: none is known.
  [[nodiscard]] const StreamProcess* owner(std::int64_t pid, std::int64_t ts) const;
  // Who is gone and not complete yet.
  [[nodiscard]] std::vector<const StreamProcess*> newly_dead();
  void mark_complete(const StreamProcess& process) { completed_.insert(process.key); }
  // Whether all there are have pids that may be somebody else's here.
  [[nodiscard]] bool only_foreign() const;
  [[nodiscard]] const std::map<std::uint64_t, StreamProcess>& all() const { return processes_; }

 private:
  void learn_one(const trace::Definitions& definitions, const trace::Process& from,
                 const trace::Clock& clock);

  std::string host_;
  std::string namespace_;
  trace::Liveness liveness_;
  std::map<std::uint64_t, StreamProcess> processes_;                                // by key
  std::unordered_map<std::int64_t, std::map<std::int64_t, std::uint64_t>> images_;  // pid: start
  std::unordered_set<std::uint64_t> completed_;                                     // keys
};

}  // namespace fathom::session
