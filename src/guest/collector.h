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
constexpr char kSaid[] = "/said-where";               // and the user knows
constexpr char kSaidSettings[] = "/said-settings";    // and what of them has no effect
constexpr char kWanted[] = "/wanted-";                // + pid: complete my file; removed when it is
constexpr char kLeaves[] = "/leaves-";                // + pid: the same, and nothing comes after it
constexpr char kLast[] = "/last";  // with PID 1 everybody ends who is wanted then

// Keeps the run from being taken away while a process joins it. Waits a moment for a collector that
// is about to; false where the run cannot be had, or is not this user's alone.
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

// Where the run of a log lies, the same for all processes that write there:
// `<folder>/.<name>-<host>-<uid>.fathom`, or in this user's own place where others can write in the
// folder, which is made. False: nowhere.
bool choose_hidden_run(char* place, size_t room, const char* folder, size_t length,
                       const char* name);

// Joins the run in this directory, and makes it where there is none; whether that worked. `joined`
// comes while nobody can take the run away.
bool attach_to_hidden(const char* directory, unsigned how, void (*joined)(const void*),
                      const void* with);

// Numbers of processes mean something to a collector only where they are counted alike: a line of
// what a process tells it.
void add_namespace(Text& lines);

// Whether whoever started the run writes its files.
bool supervised();

// The collectors of this user will write the files of this drop-in there, and nowhere that the
// spool names. `hidden`: the run is for them alone. Of an attached process, and whether they can
// know.
bool wish_for(const char* drop_in, const char* log, bool hidden);

// Starts one, unless there is one, or none that can be trusted. Of an attached process.
void start_collector();

// Until the collector has completed the file of this process, 10 seconds at most; not at all where
// there is none.
void wait_for_file();

// Of a process that ends, before it hands its segments on: until its file is complete and, where it
// was the last one of a hidden run, that is gone; 10 seconds at most. Nothing for one that wished
// for no file. With PID 1 all others end, the collector too: it waits for the files of all.
void leave_run();

}  // namespace fathom::guest
