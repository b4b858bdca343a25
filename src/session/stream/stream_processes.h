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
#include "trace/spool/drainer.h"
#include "trace/spool/liveness.h"

namespace fathom::session {

// One thread at a time. Processes are never forgotten: a pointer to one stays valid as long as
// this.
class StreamProcesses {
 public:
  StreamProcesses(const fathom_run_header& run, const trace::Clock& clock);

  // Where pids count, as the owners of segments say.
  void see_owners(const trace::Drainer& drainer);
  // What a decoder knows by now.
  void learn(const trace::Definitions& definitions, const trace::Clock& clock);
  // The image that ran then under the pid that rows have; nullptr: none is known.
  [[nodiscard]] const StreamProcess* owner(std::int64_t pid, std::int64_t ts) const;
  // The last image of the process that calls itself so; nullptr: none is known.
  [[nodiscard]] const StreamProcess* newest(std::int64_t pid) const;
  // Who is gone and not complete yet.
  [[nodiscard]] std::vector<const StreamProcess*> newly_dead();
  // Those that cannot be seen from here have ended.
  void all_ended() { liveness_.all_ended(); }
  void mark_complete(const StreamProcess& process) { completed_.insert(process.key); }
  // Whoever is not complete yet, gone or not.
  [[nodiscard]] std::vector<const StreamProcess*> incomplete() const;
  [[nodiscard]] const std::map<std::uint64_t, StreamProcess>& all() const { return processes_; }

 private:
  void learn_one(const trace::Definitions& definitions, const trace::Process& from,
                 const trace::Clock& clock);

  [[nodiscard]] trace::Pid pid_of(const StreamProcess& process) const;

  std::string host_;
  std::uint64_t home_;  // pid namespace of the run's header
  std::uint64_t own_;
  trace::Liveness liveness_;
  std::map<std::uint64_t, StreamProcess> processes_;                                // by key
  std::unordered_map<std::int64_t, std::map<std::int64_t, std::uint64_t>> images_;  // pid: start
  std::unordered_map<std::int64_t, std::map<std::int64_t, std::uint64_t>> named_;  // own pid: start
  std::unordered_set<std::uint64_t> completed_;                                    // keys
  std::unordered_map<std::uint64_t, std::uint32_t> spaces_;                        // by key
};

}  // namespace fathom::session
