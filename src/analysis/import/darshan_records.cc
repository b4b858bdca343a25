// SPDX-License-Identifier: MIT
// Darshan has sums and no events, so its counters become rows of `summary`. Modules that work
// through others are charged only for what is not counted below them.
#include "analysis/import/darshan_records.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "analysis/import/line_words.h"
#include "analysis/import/pfw_facts.h"
#include "base/sum.h"

namespace fathom::analysis {
namespace {

using trace::kNull;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr double kFarthest = 9e18;
constexpr std::string_view kNames[] = {"read", "write", "metadata"};
constexpr std::string_view kHeat = "HEATMAP";

struct Place {
  std::string_view name;
  DarshanKind kind;
  std::int64_t DarshanOperation::*number;
};

using enum DarshanKind;
using Op = DarshanOperation;

// Where counters go, by the name that they have in all modules. Those that begin with F_ are
// seconds.
constexpr Place kPlaces[] = {
    {"READS", kRead, &Op::calls},
    {"INDEP_READS", kRead, &Op::calls},
    {"COLL_READS", kRead, &Op::calls},
    {"SPLIT_READS", kRead, &Op::calls},
    {"NB_READS", kRead, &Op::calls},
    {"WRITES", kWrite, &Op::calls},
    {"INDEP_WRITES", kWrite, &Op::calls},
    {"COLL_WRITES", kWrite, &Op::calls},
    {"SPLIT_WRITES", kWrite, &Op::calls},
    {"NB_WRITES", kWrite, &Op::calls},
    {"OPENS", kMetadata, &Op::calls},
    {"INDEP_OPENS", kMetadata, &Op::calls},
    {"COLL_OPENS", kMetadata, &Op::calls},
    {"SEEKS", kMetadata, &Op::calls},
    {"STATS", kMetadata, &Op::calls},
    {"BYTES_READ", kRead, &Op::bytes},
    {"BYTES_WRITTEN", kWrite, &Op::bytes},
    {"CONSEC_READS", kRead, &Op::consecutive},
    {"CONSEC_WRITES", kWrite, &Op::consecutive},
    {"SEQ_READS", kRead, &Op::sequential},
    {"SEQ_WRITES", kWrite, &Op::sequential},
    {"MAX_BYTE_READ", kRead, &Op::highest},
    {"MAX_BYTE_WRITTEN", kWrite, &Op::highest},
    {"F_READ_TIME", kRead, &Op::dur},
    {"F_WRITE_TIME", kWrite, &Op::dur},
    {"F_META_TIME", kMetadata, &Op::dur},
    {"F_MAX_READ_TIME", kRead, &Op::dur_max},
    {"F_MAX_WRITE_TIME", kWrite, &Op::dur_max},
    {"F_READ_START_TIMESTAMP", kRead, &Op::first},
    {"F_WRITE_START_TIMESTAMP", kWrite, &Op::first},
    {"F_OPEN_START_TIMESTAMP", kMetadata, &Op::first},
    {"F_READ_END_TIMESTAMP", kRead, &Op::last},
    {"F_WRITE_END_TIMESTAMP", kWrite, &Op::last},
    {"F_CLOSE_END_TIMESTAMP", kMetadata, &Op::last},
};

// Darshan's ranges of sizes, and the log2 bucket in which the range begins.
constexpr struct {
  std::string_view name;
  std::size_t bucket;
} kRanges[] = {{"0_100", 0},  {"100_1K", 6},  {"1K_10K", 10},   {"10K_100K", 13}, {"100K_1M", 16},
               {"1M_4M", 20}, {"4M_10M", 22}, {"10M_100M", 23}, {"100M_1G", 26},  {"1G_PLUS", 30}};
static_assert(std::size(kRanges) == DarshanOperation::kRanges);

// "SIZE_READ_AGG_1K_10K": the count of that range.
std::int64_t* size_place(std::string_view name, std::array<DarshanOperation, 3>& operations) {
  if (!name.starts_with("SIZE_")) return nullptr;
  name.remove_prefix(5);
  const bool read = name.starts_with("READ_");
  if (!read && !name.starts_with("WRITE_")) return nullptr;
  name.remove_prefix(read ? 5 : 6);
  if (name.starts_with("AGG_")) name.remove_prefix(4);
  for (std::size_t i = 0; i < std::size(kRanges); ++i) {
    if (kRanges[i].name == name) return &operations[read ? 0 : 1].sizes[i];
  }
  return nullptr;
}

// Facts of one file or one rank; their sum over files means nothing.
bool is_sum(std::string_view name) {
  for (const std::string_view part :
       {"ACCESS", "STRIDE", "RANK", "VARIANCE", "ALIGNMENT", "MODE", "TIMESTAMP", "RENAMED_FROM",
        "MAX_", "CHUNK_SIZE", "DATATYPE_SIZE", "FILE_REC_ID", "POINT_SELECTS_"}) {
    if (name.find(part) != std::string_view::npos) return false;
  }
  return true;
}

std::string_view layer_of(std::string_view module) {
  return module == "POSIX" ? "posix" : module == "STDIO" ? "stdio" : "app";
}

// Modules whose work is done by calls of MPI-IO or POSIX that have counters of their own.
bool works_through_others(std::string_view module) {
  return module.starts_with("H5") || module.starts_with("PNETCDF");
}

std::vector<std::int64_t> buckets_of(const DarshanOperation& operation) {
  std::vector<std::int64_t> buckets;
  for (std::size_t i = 0; i < operation.sizes.size(); ++i) {
    if (operation.sizes[i] <= 0) continue;
    buckets.resize(std::max(buckets.size(), kRanges[i].bucket + 1), 0);
    buckets[kRanges[i].bucket] = operation.sizes[i];
  }
  return buckets;
}

// Everything but the key and the time inside.
trace::SummaryRow sums_of(const DarshanOperation& operation, std::int64_t shift_ns) {
  trace::SummaryRow row;
  row.calls = operation.calls;
  row.dur = operation.dur;
  row.dur_min = kNull;
  row.dur_max = operation.dur_max;
  row.bytes = operation.bytes;
  row.first = plus(std::max<std::int64_t>(operation.first, 0), shift_ns);
  row.last = std::max(plus(std::max<std::int64_t>(operation.last, 0), shift_ns), row.first);
  row.sizes = buckets_of(operation);
  if (operation.sequential == kNull) return row;
  row.access.positioned = operation.calls;
  row.access.consecutive = std::clamp<std::int64_t>(operation.consecutive, 0, operation.calls);
  row.access.forward = std::clamp<std::int64_t>(operation.sequential - row.access.consecutive, 0,
                                                operation.calls - row.access.consecutive);
  row.access.extent = plus(std::max<std::int64_t>(operation.highest, -1), 1);
  return row;
}

std::int32_t pid_of(std::int32_t first_pid, std::int64_t rank) {
  const std::int64_t pid = rank + first_pid;
  const bool none = rank < 0 || pid > std::numeric_limits<std::int32_t>::max();
  return none ? trace::kNull32 : static_cast<std::int32_t>(pid);
}

}  // namespace

bool DarshanRecords::add(const DarshanCounter& counter) {
  last_rank_ = std::max(last_rank_, counter.rank);
  if (counter.module == kHeat) return add_heat(counter);
  if (counter.module == "LUSTRE") return true;  // how files are striped: facts, no sums
  Record& record =
      (counter.total ? totals_
                     : records_)[{std::string(counter.module), counter.rank, counter.record}];
  if (record.file.empty()) record.file = counter.file;
  std::int64_t* place = size_place(counter.name, record.operations);
  const auto found = std::ranges::find(kPlaces, counter.name, &Place::name);
  if (found != std::end(kPlaces))
    place = &(record.operations[static_cast<std::size_t>(found->kind)].*found->number);
  if (place == nullptr) return !is_sum(counter.name) || add_sum(counter);
  // As in add_sum.
  if (counter.value.starts_with('-')) return number_in<double>(counter.value).has_value();
  const bool seconds = counter.name.starts_with("F_");
  const std::optional<std::int64_t> value =
      seconds ? scaled(counter.value, kNsPerSecond) : number_in<std::int64_t>(counter.value);
  if (!value) return false;
  *place = *place == kNull ? *value : plus(*place, *value);
  return true;
}

bool DarshanRecords::add_sum(const DarshanCounter& counter) {
  const std::optional<double> value = number_in<double>(counter.value);
  if (!value) return false;
  auto& sums = counter.total ? total_sums_ : sums_;
  if (*value > 0) {  // -1 is what a module says that does not know
    sums[{std::string(counter.module), counter.rank, std::string(counter.full_name)}] += *value;
  }
  return true;
}

// "HEATMAP_READ_BIN_7", "HEATMAP_F_BIN_WIDTH_SECONDS"; the file is called "heatmap:POSIX".
bool DarshanRecords::add_heat(const DarshanCounter& counter) {
  const std::size_t colon = counter.file.rfind(':');
  const std::string_view module =
      colon == std::string_view::npos ? counter.file : counter.file.substr(colon + 1);
  Heat& heat = heat_[{std::string(module), counter.rank}];
  const std::optional<double> value = number_in<double>(counter.value);
  if (!value) return false;
  if (counter.name == "F_BIN_WIDTH_SECONDS") {
    heat.width = *value;
    return true;
  }
  const bool read = counter.name.starts_with("READ_BIN_");
  if (!read && !counter.name.starts_with("WRITE_BIN_")) return false;
  const auto bin = number_in<std::int64_t>(counter.name.substr(read ? 9 : 10));
  const auto bytes = number_in<std::int64_t>(counter.value);
  if (!bin || *bin < 0 || !bytes) return false;
  heat.bins[read ? 0 : 1][*bin] = *bytes;
  return true;
}

const std::map<DarshanRecords::Key, DarshanRecords::Record>& DarshanRecords::shown() const {
  return records_.empty() ? totals_ : records_;
}

std::int64_t DarshanRecords::time_below(const Key& key, std::size_t kind) const {
  if (works_through_others(key.module)) return std::numeric_limits<std::int64_t>::max();
  if (layer_of(key.module) != "app") return 0;
  const auto found = shown().find({"POSIX", key.rank, key.record});
  return found == shown().end() ? 0 : found->second.operations[kind].dur;
}

trace::CounterBatch DarshanRecords::counters(const DarshanFrame& frame,
                                             trace::Strings& strings) const {
  trace::CounterBatch batch;
  for (const auto& [key, value] : records_.empty() ? total_sums_ : sums_) {
    trace::CounterRow& row = batch.rows.emplace_back();
    row.ts = frame.end_ns;
    row.pid = pid_of(frame.first_pid, std::get<1>(key));
    row.layer = strings.code(layer_of(std::get<0>(key)));
    row.name = strings.code(std::get<2>(key));
    row.value = value;
  }
  for (const auto& [key, heat] : heat_) {
    for (const std::size_t kind : {std::size_t{0}, std::size_t{1}}) {
      for (const auto& [bin, bytes] : heat.bins[kind]) {
        trace::CounterRow& row = batch.rows.emplace_back();
        const double at = heat.width * static_cast<double>(bin) * kNsPerSecond;
        row.ts = plus(frame.shift_ns, at < kFarthest ? static_cast<std::int64_t>(at) : 0);
        row.pid = pid_of(frame.first_pid, key.second);
        row.layer = strings.code(layer_of(key.first));
        row.name = strings.code(std::string(kHeat) + (kind == 0 ? "_READ" : "_WRITE"));
        row.unit = strings.code("bytes");
        row.value = static_cast<double>(bytes);
      }
    }
  }
  return batch;
}

Result<std::int64_t> DarshanRecords::write(const DarshanFrame& frame,
                                           trace::RecordingWriter& writer) const {
  trace::Strings& strings = writer.strings();
  std::int64_t rows = 0;
  for (const auto& [key, record] : shown()) {
    const bool own = layer_of(key.module) == "app";
    for (std::size_t kind = 0; kind < record.operations.size(); ++kind) {
      const DarshanOperation& operation = record.operations[kind];
      if (operation.calls <= 0) continue;
      trace::SummaryRow row = sums_of(operation, frame.shift_ns);
      const std::string name = (own ? key.module + " " : "") + std::string(kNames[kind]);
      row.key = {.layer = strings.code(layer_of(key.module)),
                 .name = strings.code(name),
                 .category = strings.code(own ? std::string_view(key.module) : kNames[kind]),
                 .file = strings.code_or_null(record.file),
                 .pid = pid_of(frame.first_pid, key.rank)};
      row.self = std::max<std::int64_t>(0, operation.dur - time_below(key, kind));
      writer.append(row);
      ++rows;
    }
  }
  trace::CounterBatch batch = counters(frame, strings);
  rows += static_cast<std::int64_t>(batch.rows.size());
  FATHOM_TRY(writer.append(batch));
  return rows;
}

}  // namespace fathom::analysis
