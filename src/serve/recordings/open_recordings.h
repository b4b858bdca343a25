// SPDX-License-Identifier: MIT
// The recordings that routes may ask. A route leases one for the time of its answer:
//
//   const Result<RecordingLease> lease = recordings.lease(request);
//   if (!lease) return refused_lease(lease.error());  // question_end.h
//   const Result<Table> rows = lease->store().query(sql);
//   if (!rows) return lease->refused(rows.error());
//
// While it is leased, its questions end when they take too long or too much memory, when the client
// goes away, and when the server stops. A recording that has grown since it was opened is opened
// again before the next lease.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/row_filter.h"
#include "analysis/store.h"
#include "base/result.h"
#include "serve/http/http.h"

namespace fathom::serve {

enum class QuestionEnd : std::uint8_t { kNot, kTime, kMemory, kGone };  // why it was ended

// A recording that this server may show: requests name it by its id, and no path comes from a
// client.
struct KnownRecording {
  std::string id;    // in requests, as recording=ID; the same after a restart
  std::string name;  // for people
  std::string path;  // to open: a recording, or a directory whose recordings are shown as one
  analysis::RowFilter part = {};  // all that is shown of it, whatever a request selects
  std::string place = {};         // by which commands on this machine find it; empty: they need not
};

// What a request that selects `asked` is shown.
[[nodiscard]] inline const analysis::RowFilter& shown_part(const KnownRecording& recording,
                                                           const analysis::RowFilter& asked) {
  return recording.part.any() ? recording.part : asked;
}

// Which recordings there are: those that a command line names, or those that a server keeps. Any
// thread.
class RecordingPlaces {
 public:
  virtual ~RecordingPlaces() = default;
  virtual Result<std::vector<KnownRecording>> list() = 0;
  // kNotFound: there is none. An empty id: the first.
  virtual Result<KnownRecording> find(const std::string& id) = 0;

 protected:
  RecordingPlaces() = default;
  RecordingPlaces(const RecordingPlaces&) = default;
  RecordingPlaces& operator=(const RecordingPlaces&) = default;
};

// What questions of all clients together may take.
struct QuestionLimits {
  std::int64_t timeout_ns = 60'000'000'000;  // 408
  std::uint64_t memory_bytes = 0;            // of all questions; 0: half of what we may have. 413
  std::size_t at_once = 4;                   // questions; others wait for their turn
  std::size_t waiting = 24;                  // 503 beyond
  std::size_t kept_open = 8;                 // stores that nobody asks just now
  std::int64_t rows = 100'000;               // of an answer to /query
};

// One recording, for one thread, until it goes.
class RecordingLease {
 public:
  RecordingLease(RecordingLease&& other) noexcept;
  RecordingLease& operator=(RecordingLease&&) = delete;
  ~RecordingLease();

  [[nodiscard]] analysis::Store& store() const;
  [[nodiscard]] const KnownRecording& recording() const;
  // Another one whenever the rows may have changed. With the id, a key for what routes remember.
  [[nodiscard]] const std::string& revision() const;
  [[nodiscard]] bool grows() const;  // somebody still records into it
  // What could not be told to be in the part, in sentences; see analysis::show_only.
  [[nodiscard]] const std::vector<std::string>& part_words() const;

  // The answer to a question that failed: 408 or 413 where a limit ended it.
  [[nodiscard]] Response refused(const Error& error) const;
  // The question was ended from outside: passes in C++ that run long ask now and then.
  [[nodiscard]] bool ended() const;

 private:
  friend class OpenRecordings;
  struct Held;
  [[nodiscard]] QuestionEnd end_of(const Error& error) const;
  [[nodiscard]] Error explained(const Error& error) const;
  explicit RecordingLease(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

// Any thread.
class OpenRecordings {
 public:
  OpenRecordings(RecordingPlaces& places, trace::NameResolver names, const QuestionLimits& limits);
  ~OpenRecordings();
  OpenRecordings(const OpenRecordings&) = delete;
  OpenRecordings& operator=(const OpenRecordings&) = delete;

  [[nodiscard]] RecordingPlaces& places();
  [[nodiscard]] const QuestionLimits& limits() const;
  [[nodiscard]] const trace::NameResolver& names() const;

  // The whole recording that the request names (recording=ID; the first where it names none). Waits
  // for its turn.
  Result<RecordingLease> lease(const Request& request);
  Result<RecordingLease> lease(const Request& request, const std::string& id);
  // Only what a filter leaves: its views show the part (analysis::show_only). Kept for the next
  // request with the same filter.
  Result<RecordingLease> lease_part(const Request& request, const KnownRecording& recording,
                                    const analysis::RowFilter& filter, bool positions = false);
  Result<RecordingLease> lease_part(const Request& request, const std::string& id,
                                    const analysis::RowFilter& filter, bool positions = false);
  // Opened for this request alone: statements of ours may write into the directory.
  Result<RecordingLease> lease_to_write(const Request& request, const KnownRecording& recording,
                                        const std::string& directory);

 private:
  friend class RecordingLease;
  class State;
  Result<RecordingLease> begin(const Request& request, const KnownRecording& recording);
  void watch(const Request& request, RecordingLease::Held& held);
  std::shared_ptr<State> state_;
};

// from, to, host, pid, tid, layers, where of a request. kInvalid for what cannot be meant.
Result<analysis::RowFilter> selection_of(const Request& request);

}  // namespace fathom::serve
