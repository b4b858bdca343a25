// SPDX-License-Identifier: MIT
// Where jobs are kept: in a file (SQLite), in Redis, or behind a server. All commands and the
// server itself speak to this interface alone, and the same tests run on each.
//
// Errors: kNotFound: no such job or kind; kExists: the name is taken; kInvalid: what was given, or
// a sum beyond 2^63-1; kFull: no room; kDenied: who asks may not; kUnavailable: the store is away,
// and later the same may be asked again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/model.h"

namespace fathom::fleet {

// Several threads may use one at the same time.
class JobStore {
 public:
  virtual ~JobStore() = default;

  virtual Result<std::vector<Job>> jobs() = 0;  // in order of names
  virtual Result<Job> job(const std::string& name) = 0;
  virtual Status create(const Job& job) = 0;
  // With all that it holds, and the numbers of batches that were sent to it.
  virtual Status remove(const std::string& job) = 0;

  // Whole or not at all, and durable when this returns. One that was added before changes nothing
  // and is a success.
  virtual Status add_profile(const std::string& job, const ProfileBatch& batch) = 0;
  virtual Status add_records(const std::string& job, const std::string& kind,
                             const RecordBatch& batch) = 0;

  // In order of node, exec, event. Ends early where the function says false.
  using TakesRow = std::function<bool(const ProfileRow& row)>;
  virtual Status profile(const std::string& job, const TakesRow& take) = 0;
  using TakesRecord = std::function<bool(std::int64_t index, const std::string& json)>;
  virtual Status records(const std::string& job, const std::string& kind, std::int64_t from,
                         const TakesRecord& take) = 0;

  // What was sent stays counted as sent.
  virtual Status clear_profile(const std::string& job) = 0;
  virtual Status clear_records(const std::string& job, const std::string& kind) = 0;

  virtual Result<std::vector<RecordKind>> kinds() = 0;
  virtual Status add_kind(const RecordKind& kind) = 0;  // the same again is a success

  // Which batches a job has got, in order of kind, client and number; and that it has got these and
  // no others. For moving a job to another store (copy_store.h); a server far away has neither.
  using TakesSent = std::function<bool(const SentRange& range)>;
  virtual Status sent(const std::string& job, const TakesSent& take);
  virtual Status set_sent(const std::string& job, const std::vector<SentRange>& ranges);

 protected:
  JobStore() = default;
  JobStore(const JobStore&) = default;
  JobStore& operator=(const JobStore&) = default;
};

}  // namespace fathom::fleet
