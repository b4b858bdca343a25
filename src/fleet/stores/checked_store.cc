// SPDX-License-Identifier: MIT
// Wraps a store: add_records() checks each record against the schema of its kind, and add_kind()
// the schema itself; all other calls go through as they are.
#include "fleet/stores/checked_store.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/text.h"
#include "fleet/record_schema.h"

namespace fathom::fleet {
namespace {

// A benchmark: its command, and its runs as docs/stat.md (JSON) has them. What else it holds is
// kept.
constexpr char kBenchmarkSchema[] = R"({
  "type": "object",
  "required": ["command", "runs"],
  "properties": {
    "command": {"type": "array", "items": {"type": "string"}},
    "host": {"type": ["string", "null"]},
    "machine": {"type": ["object", "null"]},
    "revision": {"type": ["string", "null"]},
    "time": {"type": ["string", "null"]},
    "runs": {"type": "array", "items": {
      "type": "object",
      "properties": {
        "exit": {"type": ["integer", "null"]},
        "wall": {"type": ["number", "null"]},
        "events": {"type": "object"}}}}
  }})";

class CheckedStore final : public JobStore {
 public:
  explicit CheckedStore(std::unique_ptr<JobStore> store) : store_(std::move(store)) {}

  Result<std::vector<Job>> jobs() override { return store_->jobs(); }
  Result<Job> job(const std::string& name) override { return store_->job(name); }
  Status create(const Job& job) override { return store_->create(job); }
  Status remove(const std::string& job) override { return store_->remove(job); }

  Status add_profile(const std::string& job, const ProfileBatch& batch) override {
    return store_->add_profile(job, batch);
  }
  Status add_records(const std::string& job, const std::string& kind,
                     const RecordBatch& batch) override {
    FATHOM_ASSIGN(const std::optional<RecordSchema> schema, schema_of(kind));
    for (std::size_t i = 0; schema && i < batch.records.size(); ++i) {
      Status good = schema->check(batch.records[i]);
      if (!good) return std::move(good).error().with("record " + std::to_string(i));
    }
    return store_->add_records(job, kind, batch);
  }

  Status profile(const std::string& job, const TakesRow& take) override {
    return store_->profile(job, take);
  }
  Status records(const std::string& job, const std::string& kind, std::int64_t from,
                 const TakesRecord& take) override {
    return store_->records(job, kind, from, take);
  }
  Status clear_profile(const std::string& job) override { return store_->clear_profile(job); }
  Status clear_records(const std::string& job, const std::string& kind) override {
    return store_->clear_records(job, kind);
  }

  Status sent(const std::string& job, const TakesSent& take) override {
    return store_->sent(job, take);
  }
  Status set_sent(const std::string& job, const std::vector<SentRange>& ranges) override {
    return store_->set_sent(job, ranges);
  }

  Result<std::vector<RecordKind>> kinds() override { return store_->kinds(); }
  Status add_kind(const RecordKind& kind) override {
    const Result<RecordSchema> schema = RecordSchema::parse(kind.schema);
    if (!schema) return schema.error();
    return store_->add_kind(kind);
  }

 private:
  // Nothing where there is no such kind: the store says so. A kind is never changed once it is
  // there.
  Result<std::optional<RecordSchema>> schema_of(const std::string& kind) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = schemas_.find(kind); found != schemas_.end()) return {found->second};
    if (kind == kBenchmarks) {
      FATHOM_TRY(keep(kind, kBenchmarkSchema));
    } else {
      FATHOM_ASSIGN(const std::vector<RecordKind> all, store_->kinds());
      for (const RecordKind& one : all) {
        if (one.name == kind) FATHOM_TRY(keep(kind, one.schema));
      }
    }
    const auto found = schemas_.find(kind);
    return found == schemas_.end() ? std::nullopt : std::optional(found->second);
  }

  Status keep(const std::string& kind, const std::string& text) {
    FATHOM_ASSIGN(RecordSchema schema, RecordSchema::parse(text));
    schemas_.emplace(kind, std::move(schema));
    return {};
  }

  std::unique_ptr<JobStore> store_;
  std::mutex mutex_;
  std::map<std::string, RecordSchema> schemas_;
};

}  // namespace

std::unique_ptr<JobStore> checked(std::unique_ptr<JobStore> store) {
  return std::make_unique<CheckedStore>(std::move(store));
}

}  // namespace fathom::fleet
