// SPDX-License-Identifier: MIT
// The events of a run that nobody supervises, handed on while its programs run: what writes files
// that somebody else's scripts expect. No database is involved. For a run that is supervised see
// live_rows.h.
//
// A process whose file is asked for (`wanted-<pid>` in the spool, docs/formats/spool.md) or that
// has ended gets complete(); the run ends with its last process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/rows/batch.h"

namespace fathom::session {

// A process of the run: one program image.
struct StreamProcess {
  std::uint64_t key = 0;
  std::int64_t pid = 0;  // both as it told them: in its own pid namespace
  std::int64_t ppid = 0;
  std::int64_t row_pid = 0;  // that its rows have
  bool forked = false;       // has what its parent told
  bool lodges = false;     // a child by vfork, in its parent's place until it execs: no rows of it
  bool ended = false;      // by its own words
  bool foreign = false;    // of another pid namespace than ours, as it told
  std::int64_t start = 0;  // ts
  std::int64_t end = 0;    // ts, as it told; 0: it did not
  std::string host;
  std::string command;
  std::string cwd;
  std::string drop_in;   // whose files it asks for: "dftracer", "alnair"; "" for none
  std::string settings;  // what it told last under "<drop-in>.<n>"
  // What the program told about itself, in the order of its telling.
  std::vector<std::pair<std::string, std::string>> facts;
};

// Whoever takes them. The calls come from one thread. An Error from any of them ends the stream and
// is returned by it; what was not settled stays in the spool.
class RowConsumer {
 public:
  virtual ~RowConsumer() = default;
  // Rows of this process, in the order of their threads. Views of texts hold during the call.
  virtual Status take(const StreamProcess& process, const trace::EventBatch& events,
                      const std::vector<std::size_t>& rows, const trace::Strings& strings) = 0;
  // The rows of log n are all with you; the log goes when this returns. A consumer that goes on
  // after one that was killed says where: at the log behind that one's last. `ahead` tells which
  // rows of living processes are with you already; it is to be handed back then.
  virtual Status settle(std::uint64_t n, const std::string& ahead) = 0;
  [[nodiscard]] virtual std::uint64_t first_log() const = 0;
  [[nodiscard]] virtual std::string ahead() const { return ""; }
  // Everything so far is with you. `in_order`: the process said so itself, it was not killed.
  virtual Status complete(const StreamProcess& process, bool in_order) = 0;
  // How often rows of this living process are wanted, in ns; 0: when it asks for its file.
  [[nodiscard]] virtual std::int64_t wants_every(const StreamProcess& /*process*/) const {
    return 0;
  }
  // The rows that there are by now are with you.
  virtual Status refresh() { return {}; }
  // Whether the recording is somebody's: it stays then.
  [[nodiscard]] virtual bool keeps_recording() const = 0;
  // The run is over, and its recording goes: nobody will go on after you.
  virtual void over() {}
};

struct StreamOutcome {
  bool interrupted = false;    // by a signal: what was there is with the consumer
  bool writers_alive = false;  // programs still record, or may
  bool unseen = false;         // the latter: they cannot be seen from here, and are silent
  bool spent = false;          // the recording was nobody's, and is gone; another may lie there now
};

// Whether there is a spool in this directory.
[[nodiscard]] bool has_stream(const std::string& directory);

// Whether it has processes that ask for such files.
[[nodiscard]] bool wants_stream(const std::string& directory);

// ns since 1970 at which ts is 0.
[[nodiscard]] Result<std::int64_t> stream_start(const std::string& directory);

// Returns when the last process has ended and the consumer has everything, or on a signal that
// asks to end (signal_policy.h). The directory is gone then, unless the consumer keeps it: its
// spool holds everything still.
// `ended`: programs that cannot be seen from here have ended, the caller knows.
Result<StreamOutcome> stream_rows(const std::string& directory, RowConsumer& consumer, bool ended);

}  // namespace fathom::session
