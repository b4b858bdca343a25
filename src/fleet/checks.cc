// SPDX-License-Identifier: MIT
// The rules of a batch, and the words of what goes wrong in every store.
#include "fleet/checks.h"

#include <cstddef>

#include "base/text.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kLongestClient = 256;
constexpr std::size_t kMostRecords = 500'000;
constexpr std::size_t kLongestName = std::size_t{16} << 20U;  // C++ symbols of 1 MB exist

Error invalid(std::string message) { return {Code::kInvalid, std::move(message), ""}; }

// Names come from strangers and may be long: a message shows their beginning.
std::string shown(std::string_view name) {
  constexpr std::size_t kShown = 80;
  const std::string text = escape_control(name.substr(0, kShown));
  return "'" + text + (name.size() > kShown ? "…'" : "'");
}

Status check_id(const BatchId& id) {
  if (id.client.empty() || id.client.size() > kLongestClient)
    return invalid("client: 1 to " + std::to_string(kLongestClient) + " bytes are needed");
  if (id.seq < 0) return invalid("seq: " + std::to_string(id.seq) + " is below 0");
  return {};
}

Status check_row(const ProfileRow& row) {
  if (row.count < 0) return invalid("count: " + std::to_string(row.count) + " is below 0");
  if (row.event == kExecField) return invalid("event: 'execname' is a field of every node");
  for (const std::string* name : {&row.node, &row.exec, &row.event})
    if (name->size() > kLongestName) return invalid("a name has more than 16 MiB");
  return {};
}

}  // namespace

Status check_job_name(const std::string& name) {
  if (is_job_name(name)) return {};
  return Error{Code::kInvalid, shown(name) + " cannot be the name of a job",
               "up to 64 letters, digits, '.', '_' and '-'; the first is a letter or digit"};
}

Status check_batch(const ProfileBatch& batch) {
  FATHOM_TRY(check_id(batch.id));
  for (std::size_t at = 0; at < batch.rows.size(); ++at) {
    Status row = check_row(batch.rows[at]);
    if (!row) return std::move(row).error().with("rows[" + std::to_string(at) + "]");
  }
  return {};
}

// Redis takes a million words in a command.
Status check_batch(const RecordBatch& batch) {
  if (batch.records.size() > kMostRecords)
    return invalid("records: more than " + std::to_string(kMostRecords) + " in one batch");
  return check_id(batch.id);
}

Status check_kind(const RecordKind& kind) {
  if (!is_job_name(kind.name)) return invalid(shown(kind.name) + " cannot be the name of a kind");
  if (kind.name == kBenchmarks) return invalid("'benchmark' is a kind of its own");
  return {};
}

Status check_range(const SentRange& range) {
  if (range.first < 0 || range.last < range.first) return invalid("a range of numbers is empty");
  return check_id({range.client, range.first});
}

Error no_such_job(const std::string& name) {
  return {Code::kNotFound, "no job " + shown(name), "fathom job create " + shell_quote(name)};
}

Error job_exists(const std::string& name) {
  return {Code::kExists, "job " + shown(name) + " exists",
          "fathom job remove " + shell_quote(name) + " --yes"};
}

Error no_such_kind(const std::string& name) {
  return {Code::kNotFound, "no kind of record " + shown(name) + " is registered", ""};
}

Error kind_differs(const std::string& name) {
  return {Code::kExists, "kind " + shown(name) + " is registered with another schema", ""};
}

Error sum_too_large(const ProfileRow& row) {
  return invalid("the sum of " + shown(row.event) + " of " + shown(row.node) +
                 " would be more than 9223372036854775807");
}

}  // namespace fathom::fleet
