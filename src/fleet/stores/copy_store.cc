// SPDX-License-Identifier: MIT
// Batches of a copy need numbers of their own, which set_sent() removes at the end.
#include "fleet/stores/copy_store.h"

#include <utility>

#include "fleet/checks.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kRows = 10'000;                  // in a batch
constexpr std::size_t kBytes = std::size_t{8} << 20U;  // likewise: names may be long
constexpr const char* kCopier = "fathom job copy";

// One job, whose copy is empty when this begins. Rows go over in batches of their own: those that
// the store once got are not known any more, only which numbers they had.
class JobCopy {
 public:
  JobCopy(JobStore& from, JobStore& to, std::string job, Copied& copied)
      : from_(&from), to_(&to), job_(std::move(job)), copied_(&copied) {}

  Status run(const std::vector<RecordKind>& kinds) {
    FATHOM_TRY(profile());
    FATHOM_TRY(records(std::string(kBenchmarks)));
    for (const RecordKind& kind : kinds) FATHOM_TRY(records(kind.name));
    return numbers();
  }

 private:
  // The reader's `take` can only say whether to go on: what went wrong with the writer is kept in
  // `sent` meanwhile, and decides in the end.
  Status profile() {
    ProfileBatch batch{{kCopier, 0}, {}};
    std::size_t bytes = 0;
    Status sent;
    const auto send = [&] {
      sent = to_->add_profile(job_, batch);
      batch.id.seq += 1;
      copied_->rows += static_cast<std::int64_t>(batch.rows.size());
      batch.rows.clear();
      bytes = 0;
      return sent.has_value();
    };
    FATHOM_TRY(from_->profile(job_, [&](const ProfileRow& row) {
      bytes += row.node.size() + row.exec.size() + row.event.size();
      batch.rows.push_back(row);
      return (batch.rows.size() < kRows && bytes < kBytes) || send();
    }));
    if (sent && !batch.rows.empty()) send();
    return sent;
  }

  Status records(const std::string& kind) {
    RecordBatch batch{{kCopier, 0}, {}};
    std::size_t bytes = 0;
    Status sent;
    const auto send = [&] {
      sent = to_->add_records(job_, kind, batch);
      batch.id.seq += 1;
      copied_->records += static_cast<std::int64_t>(batch.records.size());
      batch.records.clear();
      bytes = 0;
      return sent.has_value();
    };
    FATHOM_TRY(from_->records(job_, kind, 0, [&](std::int64_t, const std::string& json) {
      bytes += json.size();
      batch.records.push_back(json);
      return (batch.records.size() < kRows && bytes < kBytes) || send();
    }));
    if (sent && !batch.records.empty()) send();
    return sent;
  }

  // Last, and in place of all that was sent here: with it go the numbers of our own batches, so
  // that a second copy to the same place begins from nothing.
  Status numbers() {
    std::vector<SentRange> ranges;
    FATHOM_TRY(from_->sent(job_, [&](const SentRange& range) {
      ranges.push_back(range);
      return true;
    }));
    return to_->set_sent(job_, ranges);
  }

  JobStore* from_;
  JobStore* to_;
  std::string job_;
  Copied* copied_;
};

Result<std::vector<Job>> chosen_jobs(JobStore& from, const std::vector<std::string>& names) {
  if (names.empty()) return from.jobs();
  std::vector<Job> jobs;
  for (const std::string& name : names) {
    FATHOM_ASSIGN(Job job, from.job(name));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

// Before anything is written: half of the jobs copied and then an error would leave nobody knowing
// which.
Status check_free(JobStore& to, const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    const Result<Job> there = to.job(job.name);
    if (there) return job_exists(job.name);
    if (there.error().code != Code::kNotFound) return there.error();
  }
  return {};
}

}  // namespace

Result<Copied> copy_store(JobStore& from, JobStore& to, const CopyOptions& options) {
  FATHOM_ASSIGN(const std::vector<Job> jobs, chosen_jobs(from, options.jobs));
  FATHOM_TRY(check_free(to, jobs));
  FATHOM_ASSIGN(const std::vector<RecordKind> kinds, from.kinds());
  for (const RecordKind& kind : kinds) FATHOM_TRY(to.add_kind(kind));
  Copied copied;
  for (const Job& job : jobs) {
    if (options.tell) options.tell(job.name);
    FATHOM_TRY(to.create(job));
    Status done = JobCopy(from, to, job.name, copied).run(kinds);
    if (!done) {
      (void)to.remove(job.name);
      return std::move(done).error().with("copy job " + job.name);
    }
    ++copied.jobs;
  }
  return copied;
}

}  // namespace fathom::fleet
