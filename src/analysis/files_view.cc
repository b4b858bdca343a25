// SPDX-License-Identifier: MIT
#include "analysis/files_view.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "base/host.h"
#include "sql/columns.h"
#include "sql/parquet_writer.h"
#include "trace/batch.h"

namespace fathom::analysis {
namespace {

// Layers inside the program see different calls: their sums add up. A layer below sees the same
// bytes again, so that the greatest of them counts, and only for files that the program's own
// layers do not know.
constexpr char kSums[] = R"(
  WITH by_layer AS (
    SELECT file AS path, layer IN ('app', 'python', 'stdio', 'posix') AS inside, layer,
           sum(calls) AS calls,
           coalesce(sum(bytes) FILTER (category = 'read'), 0) AS bytes_read,
           coalesce(sum(bytes) FILTER (category = 'write'), 0) AS bytes_written,
           min("first") AS "first", max("last") AS "last"
    FROM summary WHERE file IS NOT NULL GROUP BY ALL),
  sums AS (
    SELECT path, min("first") AS "first", max("last") AS "last",
           coalesce(sum(calls) FILTER (inside), max(calls)) AS calls,
           coalesce(sum(bytes_read) FILTER (inside), max(bytes_read)) AS bytes_read,
           coalesce(sum(bytes_written) FILTER (inside), max(bytes_written)) AS bytes_written
    FROM by_layer GROUP BY path)
)";

std::string view_sql(const std::string& device, const std::string& inode, const std::string& join) {
  return "CREATE OR REPLACE VIEW files AS" + std::string(kSums) + "SELECT path, CAST(" + device +
         " AS BIGINT) AS device, CAST(" + inode +
         " AS BIGINT) AS inode, CAST(calls AS BIGINT) AS calls,"
         " CAST(bytes_read AS BIGINT) AS bytes_read,"
         " CAST(bytes_written AS BIGINT) AS bytes_written, \"first\", \"last\" FROM sums" +
         join;
}

bool is_of_this_machine(const std::vector<trace::Part>& parts) {
  const std::string here = read_host_facts().hostname;
  return std::ranges::all_of(
      parts, [&](const trace::Part& part) { return part.manifest.host.hostname == here; });
}

struct Inodes {
  std::vector<std::string> paths;
  std::vector<std::int64_t> devices;
  std::vector<std::int64_t> inodes;
};

Inodes look_at(const Table& rows) {
  Inodes found;
  for (const auto& row : rows.rows) {
    const auto* path = std::get_if<std::string>(&row[0].data);
    struct stat facts {};
    if (path == nullptr || stat(path->c_str(), &facts) != 0) continue;
    found.paths.push_back(*path);
    found.devices.push_back(static_cast<std::int64_t>(facts.st_dev));
    found.inodes.push_back(static_cast<std::int64_t>(facts.st_ino));
  }
  return found;
}

}  // namespace

Status create_files_view(sql::Connection& connection) {
  return connection.execute(view_sql("NULL", "NULL", ""));
}

Status add_inodes(sql::Connection& connection, const std::vector<trace::Part>& parts) {
  if (!is_of_this_machine(parts)) return {};
  Inodes found;
  FATHOM_TRY(connection.stream("SELECT DISTINCT file FROM summary WHERE file IS NOT NULL",
                               [&](const Table& rows) -> Status {
                                 Inodes more = look_at(rows);
                                 std::ranges::move(more.paths, std::back_inserter(found.paths));
                                 std::ranges::copy(more.devices, std::back_inserter(found.devices));
                                 std::ranges::copy(more.inodes, std::back_inserter(found.inodes));
                                 return {};
                               }));
  const std::vector<std::string_view> paths(found.paths.begin(), found.paths.end());
  const sql::ColumnDef columns[] = {{.name = "path", .kind = sql::ColumnKind::kText},
                                    {.name = "device", .kind = sql::ColumnKind::kInt64},
                                    {.name = "inode", .kind = sql::ColumnKind::kInt64}};
  const sql::ColumnData data[] = {
      {.texts = paths}, {.int64s = found.devices}, {.int64s = found.inodes}};
  FATHOM_TRY(sql::register_table(connection, "inodes",
                                 {.columns = columns, .data = data, .rows = paths.size()}));
  return connection.execute(view_sql("device", "inode", " LEFT JOIN inodes USING (path)"));
}

bool mentions_files(std::string_view sql) {
  constexpr std::string_view kWord = "files";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(sql.begin(), sql.end(), kWord.begin(), kWord.end(), same) != sql.end();
}

}  // namespace fathom::analysis
