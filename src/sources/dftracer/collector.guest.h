// SPDX-License-Identifier: MIT
// The process that writes DFTracer's files where nobody supervises: one for a run, detached, so
// that neither its end nor ours is felt by the other (docs/formats/spool.md, "Drop-ins").
#pragma once

#include <stddef.h>

namespace fathom::guest::dftracer {

// Where processes of a run meet its collector: entries of the spool's directory.
constexpr char kCollectorLock[] = "/collector.lock";  // locked by the collector, while it lives
constexpr char kNobody[] = "/nobody-collects";        // no collector may be started for this run
constexpr char kWanted[] = "/wanted-";                // + pid: complete my file; removed when it is

// Keeps the run from being taken away while a process joins it. Waits a moment for a collector that
// is about to; false where the run cannot be had.
class Gate {
 public:
  explicit Gate(const char* spool);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  [[nodiscard]] bool open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Starts one, unless there is one, or the program would have to wait() for it. Of an attached
// process.
void start_collector();

// Until the collector has completed the file of this process, 10 seconds at most; not at all where
// there is none.
void wait_for_file();

}  // namespace fathom::guest::dftracer
