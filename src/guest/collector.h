// SPDX-License-Identifier: MIT
// The process that writes the files of drop-ins where nobody supervises: one for a run, detached,
// so that neither its end nor ours is felt by the other (docs/formats/spool.md, "Drop-ins"). The
// run lies in a hidden directory then, the same for all processes that want such files.
#pragma once

#include <stddef.h>

#include "guest/text.h"

namespace fathom::guest {

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

// `<folder>.<name>-<host>-<uid>.fathom`; the folder ends in '/', or is empty.
void name_hidden_run(Text& to, const char* folder, size_t length, const char* name);

// Joins the run in this directory, and makes it where there is none; whether that worked. `joined`
// comes while nobody can take the run away.
bool attach_to_hidden(const char* directory, unsigned how, void (*joined)(const void*),
                      const void* with);

// Numbers of processes mean something to a collector only where they are counted alike: a line of
// what a process tells it.
void add_namespace(Text& lines);

// Whether whoever started the run writes its files.
bool supervised();

// Starts one, unless there is one, or the program would have to wait() for it. Of an attached
// process.
void start_collector();

// Until the collector has completed the file of this process, 10 seconds at most; not at all where
// there is none.
void wait_for_file();

}  // namespace fathom::guest
