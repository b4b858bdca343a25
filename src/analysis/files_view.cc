// SPDX-License-Identifier: MIT
// SQL only. The same bytes are seen by several layers, so sums of layers inside the program are
// added and those below are not.
#include "analysis/files_view.h"

#include "analysis/layer_sql.h"

namespace fathom::analysis {
namespace {

// Layers inside the program see different calls: their sums add up. A layer below sees the same
// bytes again.
constexpr char kView[] = R"(
  CREATE OR REPLACE VIEW files AS
  WITH sums AS (
    SELECT file AS path, sum(calls) FILTER (once_in_file) AS calls,
           coalesce(sum(bytes) FILTER (once_in_file AND category = 'read'), 0) AS bytes_read,
           coalesce(sum(bytes) FILTER (once_in_file AND category = 'write'), 0) AS bytes_written,
           min("first") AS "first", max("last") AS "last"
    FROM @summary WHERE file IS NOT NULL GROUP BY path),
  seen AS (
    SELECT path, CASE WHEN min(device) = max(device) AND min(inode) = max(inode)
                 THEN struct_pack(device := min(device), inode := min(inode)) END AS id
    FROM inodes GROUP BY path)
  SELECT path, id.device AS device, id.inode AS inode, CAST(calls AS BIGINT) AS calls,
         CAST(bytes_read AS BIGINT) AS bytes_read, CAST(bytes_written AS BIGINT) AS bytes_written,
         "first", "last"
  FROM sums LEFT JOIN seen USING (path))";

}  // namespace

Status create_files_view(sql::Connection& connection) {
  static const std::string kText = layer_sql(kView);
  return connection.execute(kText);
}

}  // namespace fathom::analysis
