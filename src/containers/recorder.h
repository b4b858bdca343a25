// SPDX-License-Identifier: MIT
// One recording of a container's processes, which are nobody's descendants here: the in-process
// layers write through the broker, the layers from outside follow the container's control group.
// Also of a command of this machine in a control group of its own, from outside alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "containers/private_mount.h"
#include "session/host_sources.h"
#include "session/layer_plan.h"
#include "session/run/broker.h"
#include "session/watch/watch_recording.h"

namespace fathom::containers {

// Which layers, decided before anything is made. `inside`: the library enters the application.
Result<session::LayerPlan> plan_container(const std::string& layers, bool inside);

struct RecorderOptions {
  std::string directory;  // of the recording; must not exist
  session::LayerPlan plan;
  std::string image = {};
  std::string container = {};        // its id; "": a command of this machine
  std::vector<std::string> command;  // of the application
  double hz = 10;
  const PrivateMount* mount = nullptr;  // nullptr: recorded from outside alone
  std::string library = {};             // on this machine; "": likewise
  std::string count = {};               // events of perf to count over time, as `stat -e`
};

// The clock that recordings count by, at the application's end.
struct Ending {
  std::int64_t end_monotonic_ns = 0;
  std::optional<int> exit = {};  // nothing: nobody could be asked
};

// One thread at a time, whichever it is. `mount` must outlive it. Gone without finish(), and the
// recording is removed.
class Recorder {
 public:
  // What fails leaves nothing behind.
  static Result<std::unique_ptr<Recorder>> begin(RecorderOptions options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  [[nodiscard]] const std::string& directory() const { return options_.directory; }
  // Follows the control group, once. `pid`: the container's first process; 0: not known.
  Status follow(pid_t pid, const std::string& group);
  [[nodiscard]] bool follows() const { return follows_; }
  // What the application gets to be recorded from inside, beside `own` (NAME=value). Without
  // LD_PRELOAD where its loader would mind: the recording then says why.
  std::vector<std::string> variables(const std::vector<std::string>& own, const GateCaller& caller);
  // Stops, sums up and packs.
  Status finish(const Ending& ending);

 private:
  explicit Recorder(RecorderOptions options) : options_(std::move(options)) {}
  Status open();
  [[nodiscard]] sources::SourceContext context() const;
  void note_uncovered(const trace::Totals& totals, trace::Manifest& manifest) const;

  RecorderOptions options_;
  std::shared_ptr<symbols::KeptFiles> files_;
  std::shared_ptr<GateCaller> program_;  // shared with who names functions
  std::string obstacle_;                 // why the library does not enter it
  std::unique_ptr<session::Broker> broker_;
  std::unique_ptr<session::WatchRecording> recording_;
  session::HostSources hosts_;
  bool follows_ = false;
  bool finished_ = false;
};

}  // namespace fathom::containers
