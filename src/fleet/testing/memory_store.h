// SPDX-License-Identifier: MIT
// A JobStore for tests of what stands above it: everything in memory, and errors on demand.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fleet/store.h"

namespace fathom::fleet {

class MemoryStore : public JobStore {
 public:
  // Every call fails with it from now on.
  void fail_with(std::optional<Error> error) {
    const std::scoped_lock guard(mutex_);
    failure_ = std::move(error);
  }

  Result<std::vector<Job>> jobs() override {
    const std::scoped_lock guard(mutex_);
    if (failure_) return *failure_;
    std::vector<Job> found;
    for (const auto& [name, content] : jobs_) found.push_back(describe(name, content));
    return found;
  }

  Result<Job> job(const std::string& name) override {
    const std::scoped_lock guard(mutex_);
    FATHOM_ASSIGN(const Content* content, find(name));
    return describe(name, *content);
  }

  Status create(const Job& job) override {
    const std::scoped_lock guard(mutex_);
    if (failure_) return *failure_;
    if (jobs_.contains(job.name)) return Error{Code::kExists, "there is a job " + job.name, ""};
    jobs_[job.name].info = job.info;
    return {};
  }

  Status remove(const std::string& job) override {
    const std::scoped_lock guard(mutex_);
    FATHOM_TRY(find(job));
    jobs_.erase(job);
    return {};
  }

  Status add_profile(const std::string& job, const ProfileBatch& batch) override {
    const std::scoped_lock guard(mutex_);
    FATHOM_ASSIGN(Content * content, find(job));
    if (content->sent.contains({"profile", batch.id.client, batch.id.seq})) return {};
    auto sums = content->sums;
    for (const ProfileRow& row : batch.rows) {
      std::int64_t& sum = sums[{row.node, row.exec, row.event}];
      if (__builtin_add_overflow(sum, row.count, &sum))
        return Error{Code::kInvalid, "a sum would pass 2^63-1", ""};
    }
    content->sums = std::move(sums);
    content->sent.insert({"profile", batch.id.client, batch.id.seq});
    return {};
  }

  Status add_records(const std::string& job, const std::string& kind,
                     const RecordBatch& batch) override {
    const std::scoped_lock guard(mutex_);
    FATHOM_ASSIGN(Content * content, find(job));
    FATHOM_TRY(find_kind(kind));
    if (!content->sent.insert({kind, batch.id.client, batch.id.seq}).second) return {};
    auto& records = content->records[kind];
    records.insert(records.end(), batch.records.begin(), batch.records.end());
    return {};
  }

  Status profile(const std::string& job, const TakesRow& take) override {
    const std::scoped_lock guard(mutex_);
    FATHOM_ASSIGN(const Content* content, find(job));
    for (const auto& [key, count] : content->sums) {
      if (!take({std::get<0>(key), std::get<1>(key), std::get<2>(key), count})) break;
    }
    return {};
  }

  Status records(const std::string& job, const std::string& kind, std::int64_t from,
                 const TakesRecord& take) override {
    const std::scoped_lock guard(mutex_);
    FATHOM_ASSIGN(Content * content, find(job));
    FATHOM_TRY(find_kind(kind));
    const auto& records = content->records[kind];
    for (auto at = static_cast<std::size_t>(from); at < records.size(); ++at) {
      if (!take(static_cast<std::int64_t>(at), records[at])) break;
    }
    return {};
  }

  Status clear_profile(const std::string& job) override {
    const std::scoped_lock guard(mutex_);
    FATHOM_ASSIGN(Content * content, find(job));
    content->sums.clear();
    return {};
  }

  Status clear_records(const std::string& job, const std::string& kind) override {
    const std::scoped_lock guard(mutex_);
    FATHOM_ASSIGN(Content * content, find(job));
    content->records[kind].clear();
    return {};
  }

  Result<std::vector<RecordKind>> kinds() override {
    const std::scoped_lock guard(mutex_);
    if (failure_) return *failure_;
    return kinds_;
  }

  Status add_kind(const RecordKind& kind) override {
    const std::scoped_lock guard(mutex_);
    if (failure_) return *failure_;
    kinds_.push_back(kind);
    return {};
  }

 private:
  struct Content {
    std::string info;
    std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> sums;
    std::map<std::string, std::vector<std::string>> records;
    std::set<std::tuple<std::string, std::string, std::int64_t>> sent;
  };

  static Job describe(const std::string& name, const Content& content) {
    const auto found = content.records.find(std::string(kBenchmarks));
    const std::size_t count = found == content.records.end() ? 0 : found->second.size();
    return {name, content.info, static_cast<std::int64_t>(count)};
  }

  Result<Content*> find(const std::string& name) {
    if (failure_) return *failure_;
    const auto found = jobs_.find(name);
    if (found == jobs_.end()) return Error{Code::kNotFound, "there is no job " + name, ""};
    return &found->second;
  }

  Status find_kind(const std::string& name) {
    if (name == kBenchmarks) return {};
    for (const RecordKind& kind : kinds_) {
      if (kind.name == name) return {};
    }
    return Error{Code::kNotFound, "there is no kind " + name, ""};
  }

  std::mutex mutex_;
  std::optional<Error> failure_;
  std::map<std::string, Content> jobs_;
  std::vector<RecordKind> kinds_;
};

}  // namespace fathom::fleet
