// SPDX-License-Identifier: MIT
// Takes full segments, and those of dead owners, out of the pools into logs, so that the program
// can use them again. Needs spool/lock (exclusive). Nothing is freed before it is in the log: a
// disk that is full costs nothing until the guests themselves find no room. What was opened stays
// open: files that somebody removes or replaces cost nothing, and those that others need are made
// again. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "trace/decode/host_rows.h"
#include "trace/decode/record_walker.h"
#include "trace/spool/chunk_log.h"
#include "trace/spool/journal.h"
#include "trace/spool/liveness.h"
#include "trace/spool/run_page.h"
#include "trace/spool/spool.h"

namespace fathom::trace {

inline constexpr std::uint64_t kLogBytes = std::uint64_t{16}
                                           << 20;  // a log is packed into one Parquet file
inline constexpr std::uint64_t kLargestDrained = 4 * kLogBytes;  // no log is: it is read whole

// What one pass did and found.
struct DrainResult {
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t pools = 0;  // that exist now
  std::uint64_t pool_bytes = 0;
  std::uint64_t lost = 0;     // events that guests found no room for, as the pools count them now
  bool owners_alive = false;  // some process may still write
  // Some cannot be seen from here, and nothing was heard of them: what is theirs is not taken.
  bool owners_unknown = false;
  std::vector<CallInFlight>
      died_in;  // what owners that were found dead in this pass were in the middle of
  std::optional<Error> trouble;  // a log could not be written: what is left waits for the next pass
};

// How far the logs are: those below `log` are complete, and that one has so many bytes.
struct LogEnd {
  std::uint64_t log = 0;
  std::uint64_t bytes = 0;
  bool operator==(const LogEnd&) const = default;
};

// Owns the mappings of all pools, the logs that it writes and the journal; points to the Spool,
// which outlives it. A pass fails as a whole only where files of the spool can neither be listed
// nor made again: a log that cannot be written is `trouble` of the result, and loses nothing.
class Drainer {
 public:
  // `first_log` is above every n that a log or an events file has.
  static Result<Drainer> open(Spool& spool, const Clock& clock, std::uint64_t first_log);

  // One pass. A failure to write leaves the rest where it is; the next pass tries again.
  Result<DrainResult> drain();

  // Rows that the recorder measured. They are safe, and visible to readers, when this returns.
  Status append(const HostRows& rows, const Strings& strings);

  // Ends the current log, if it holds anything, so that it can be packed.
  void roll();
  // Logs that are complete, ascending.
  [[nodiscard]] std::vector<std::uint64_t> complete_logs() const;
  [[nodiscard]] LogEnd log_end() const;
  // A log, and how many bytes it should have. Also one whose file somebody removed.
  struct OpenLog {
    File file;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Result<OpenLog> open_log(std::uint64_t n) const;
  // What the journal says that was put into a log.
  struct Noted {
    std::uint64_t entries = 0;
    std::int64_t events = 0;
  };
  [[nodiscard]] Noted noted(std::uint64_t n) const {
    return {journal_.entries_of(n), journal_.events_of(n)};
  }
  // Removes pools that are copies of others, when nobody writes any more.
  void remove_copies();
  // It is packed: removes its file.
  void remove_log(std::uint64_t n);
  // definitions.log; nullptr where there is none yet.
  [[nodiscard]] const File* definitions_file() const {
    return definitions_ ? &definitions_->file() : nullptr;
  }

  // Processes that own segments, by key, and where their pids count.
  void visit_owners(const std::function<void(std::uint64_t, const Pid&)>& visit) const;
  // Copies of what lies in segments now: definitions that drained chunks may refer to.
  void visit_live(const std::function<void(const Chunk&)>& visit);
  // The same, such that of every thread a beginning is there: no record without those before it.
  struct LiveCopy {
    std::vector<std::uint8_t> bytes;
    const Schema* schema = nullptr;
    [[nodiscard]] Chunk chunk() const { return {bytes, schema}; }
  };
  [[nodiscard]] std::vector<LiveCopy> copy_live();
  // Of those, from a word of each: whether there is something new costs no more than that.
  struct LiveState {
    std::uint64_t bytes = 0;  // changes when something was written
    bool full = false;        // a segment waits to be taken
  };
  [[nodiscard]] LiveState live_state() const;

  // Counters of losses of all pools, those that are gone included, and of pools that could not be
  // made.
  [[nodiscard]] std::vector<Loss> losses() const;
  // What is missing of all that the programs wrote, as far as the last pass. `packed` tells of a
  // log whether it is in Parquet; the definitions are those of all logs and segments.
  [[nodiscard]] std::vector<Loss> gaps(const std::function<bool(std::uint64_t)>& packed,
                                       const Definitions& definitions) const;
  // Programs of another machine have ended: somebody says so.
  void all_ended() { liveness_.all_ended(); }
  void tell_trouble(std::string_view why) { page_.tell_trouble(why); }
  // Says that the recorder lives, to whoever looks at the run from another machine.
  void beat() { page_.beat(now_realtime_ns()); }

 private:
  [[nodiscard]] PoolLosses counted() const;
  [[nodiscard]] bool is_in_the_way(std::uint64_t n) const;  // something that is no log
  struct Work {
    Pool* pool;
    std::uint32_t index;
    RunHead first;
  };
  Drainer(Spool& spool, const Clock& clock, std::uint64_t first_log);
  Status scan_existing();
  Status keep_files();
  Status refresh_pools();
  void mend_if_cut(Pool& pool);
  // Owners on another machine, or in a pid namespace that cannot be seen from here.
  void hear_of_unseen_owners();
  Status note(const std::string& entry);
  void note_owners(Pool& pool);
  Life creator_life(const Pool& pool) const;
  Life pool_life(const Pool& pool) const;
  Life owner_life(const Pool& pool, std::uint32_t index, const Pid& pid) const;
  bool may_take(Pool& pool, std::uint32_t index, DrainResult& result);
  void collect(std::vector<Work>& work, DrainResult& result);
  Status take(const Work& work);
  void remove_idle_pools();
  Status put(const LogEntry& entry);
  bool remove_pool(Pool& pool);
  Status ensure_log(std::uint64_t room);
  Status ensure_definitions();
  [[nodiscard]] Chunk chunk_of(const Pool& pool, std::uint32_t index) const;
  [[nodiscard]] bool has_log(std::uint64_t n) const;
  // Gives back what was looked at, where all pools together may be more than fits into memory: they
  // are when nobody drained for long.
  void shed_pages(const Pool& pool) const {
    if (sheds_pages_) pool.drop_pages();
  }

  Spool* spool_;
  Liveness liveness_;
  std::map<std::string, Pool> pools_;       // by path
  std::optional<std::uint64_t> last_live_;  // live_state().bytes after the last pass
  bool several_spaces_ = false;             // owners in more than one pid namespace were seen
  bool sheds_pages_ = false;                // pools are more than should be in memory at a time
  std::set<ChunkName> logged_;              // in a log, but not yet freed
  std::set<std::string> unreadable_;        // pools that are damaged
  std::set<std::string> denied_;            // pools that we may not open: perhaps not yet
  std::set<std::string> copies_;            // pools that are copies of others
  PoolLosses gone_losses_;
  RunPage page_;
  Journal journal_;
  std::uint64_t runs_begun_ = 0;               // at the beginning of the last pass
  std::map<std::uint64_t, ChunkLog> written_;  // by us, complete and not packed yet
  std::optional<ChunkLog> log_;
  std::optional<ChunkLog> definitions_;
  std::uint64_t current_log_ = 0;
  std::uint64_t names_in_log_ = 0;  // bytes of its definitions
  std::uint64_t next_log_ = 0;
};

}  // namespace fathom::trace
