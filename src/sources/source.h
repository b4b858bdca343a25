// SPDX-License-Identifier: MIT
// What a source of events is to the rest of the house. A source lives in a folder of its own and
// stands as one line in list.cc. In-process sources do their work inside the recorded program
// (their *.guest.* files); here they only say what they give and whether they can. Host sources run
// beside the program.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/decode/host_rows.h"

namespace fathom::symbols {
class KeptFiles;
}

namespace fathom::sources {

// Whether a layer can be recorded here and now.
struct Availability {
  bool available = true;
  std::string reason;  // why not, one line; where available, what of it is missing
  std::string fix;     // the exact line to type that changes it; empty where there is none
  // A run that names it goes on with the other layers: it is the machine that has not got it.
  bool others_go_on = false;
};

// What a source is told before it starts: one for all of them, of which each takes what it needs.
struct SourceContext {
  std::string directory;  // of the recording
  pid_t root_pid = 0;  // the program; its descendants belong to the recording too. 0: none, those
                       // that write into the spool are all there is
  std::int64_t start_monotonic_ns = 0;   // where ts is 0
  double hz = 10;                        // samples a second
  std::vector<std::string> layers = {};  // that are recorded
  double sample_hz = 99;                 // of layer cpu
  std::string sample_event = {};         // what it samples; "": the CPU's time
  std::string count = {};                // events of perf to count over time
  std::int64_t count_interval_ns = 100'000'000;
  std::int64_t interval_ns = 1'000'000'000;  // of calls that are added up
  std::vector<std::string> detail = {};      // layers with an event for each call, too
  std::vector<std::string> functions = {};   // to probe, of layer user
  bool returns = false;                      // of these functions, whatever comes of it
  std::string program = {};  // file of the program; "": there is none, or it is not known
  std::vector<std::string> categories = {};  // of these functions, CATEGORY=[PATH:]NAME or REGEX
  std::vector<std::string> filters = {};     // [LAYER:]KEY=VALUE, of layers that add calls up
  std::uint32_t ring_bytes = 0;              // for single calls that wait; 0: enough
  std::uint32_t rows = 0;                    // of sums that wait; 0: enough
  bool joins = false;                        // processes that run already may join
  bool no_command = false;                   // arguments of programs are not recorded
  std::shared_ptr<symbols::KeptFiles> files = {};  // that programs map; nullptr: not kept
  std::uint32_t user_files = 0;  // that a user may have met lately, where they join; 0: a share
  std::uint32_t user_rows = 0;   // of sums with a file that a user may add in a second; 0: a share
};

// Processes, of those that run and of those that begin later.
struct Choice {
  enum class By { kNobody, kProcess, kUser, kGroup, kAll };
  By by = By::kNobody;
  pid_t process = 0;
  uid_t user = 0;
  std::uint32_t hierarchy = 0;  // of the control group; 0: version 2
  std::uint64_t group = 0;      // its directory's inode
  std::string group_path = {};  // and its path
};

// A process that is recorded. Its number may be another one's later; both together are nobody's.
struct Followed {
  pid_t process = 0;
  std::int64_t since_ns = 0;  // it began, became this program or joined; by the monotonic clock
  auto operator<=>(const Followed&) const = default;  // NOLINT(modernize-use-nullptr)
};

// A source that is recording. The session's thread calls everything, but for drain(): a thread of
// the pump calls that while the source runs, and other calls may come at the same time. So a source
// guards with a lock what drain() takes, and it owns the threads that it needs.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // Before there is a program. A failure here keeps it from being started.
  virtual Status prepare(const SourceContext& /*context*/) { return {}; }
  // The program's process, which is to become the program in a moment.
  virtual Status adopt(pid_t /*process*/) { return {}; }
  // A failure here makes its layers unavailable; the run goes on without them.
  virtual Status start(const SourceContext& context) = 0;
  // What the recording is to say of how it was made (view `run`), once it is prepared.
  [[nodiscard]] virtual std::map<std::string, std::string> facts() const { return {}; }
  // What is not recorded of some of its layers though they are, by layer, once it is prepared.
  [[nodiscard]] virtual std::map<std::string, std::string> lacks() const { return {}; }
  // Of a source that joins(), in any thread: whom it records, from when this returns.
  virtual Status join(const Choice& /*choice*/) { return {}; }
  virtual Status leave(pid_t /*process*/) { return {}; }
  virtual std::vector<Followed> followed() { return {}; }
  // Another recording goes on where this one ends: gives the last rows of the old one, and where
  // the new one begins, by the monotonic clock; 0: where the others say, or now.
  virtual std::int64_t turn(trace::Strings& /*strings*/, trace::HostRows& /*last*/) { return 0; }
  // Where the new one has begun.
  virtual void turned(std::int64_t /*start_monotonic_ns*/) {}
  // Whether processes of the run are recorded that go on after the program.
  virtual bool outlived() { return false; }
  // The program has ended, and those go on: no thread runs any more, and start() may follow.
  virtual void pause() { stop(); }
  // The program has ended and is not yet reaped: last words can still be taken. drain() may follow,
  // nothing else.
  virtual void stop() = 0;
  // Moves what was recorded since the last time behind the rows that are there.
  virtual void drain(trace::Strings& strings, trace::HostRows& rows) = 0;
};

// A source as data, readable before anything is made: the command line, doctor and the documents
// come from it.
struct SourceDef {
  std::string_view name;
  std::span<const std::string_view> layers;
  std::string_view help;
  bool in_process;  // recorded by libfathom.so inside the program: there is nothing to make()
  bool in_detail = false;        // adds calls up, and can also record each
  bool joins = false;            // can record processes that run already, however they are chosen
  bool attaches = false;         // can record such processes where each is named
  std::string_view needs = {};   // a layer that is recorded along with it
  const char* driver = nullptr;  // the machine's library without which no program gets that far
  // What is wrong with what is asked of it; before anything is made. May be nullptr.
  Status (*check)(const SourceContext& context) = nullptr;
  Availability (*probe)(std::string_view layer);
  std::unique_ptr<Source> (*make)();
};

}  // namespace fathom::sources
