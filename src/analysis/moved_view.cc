// SPDX-License-Identifier: MIT
// Counts each byte once where stdio and posix both saw it. The other side of the join is the
// summary, which stays small however many events there are.
#include "analysis/moved_view.h"

#include "analysis/layer_sql.h"

namespace fathom::analysis {

// A join and no NOT EXISTS, for which the database keeps what it reads. What is copied is read and
// written. What has no file is one of several pipes, sockets and terminals: nothing tells that both
// saw the same.
Status create_moved_view(sql::Connection& connection) {
  static const std::string kText = layer_sql(R"(
    CREATE OR REPLACE VIEW moved AS
    SELECT * FROM events
    WHERE layer = 'posix' AND category IN ('read', 'write') AND bytes > 0
    UNION ALL
    SELECT * REPLACE ('write' AS category, args['to'] AS file, CAST(NULL AS INTEGER) AS fd,
                      CAST(NULL AS BIGINT) AS "offset",
                      map_concat(args, MAP {'peer': args['to_peer']}) AS args)
    FROM events WHERE layer = 'posix' AND bytes > 0 AND @copies
    UNION ALL
    SELECT e.* FROM events e
    ANTI JOIN (SELECT category, file, pid, host FROM summary WHERE layer = 'posix' AND bytes > 0) s
      ON s.category = e.category AND s.file = e.file
      AND s.pid IS NOT DISTINCT FROM e.pid AND s.host IS NOT DISTINCT FROM e.host
    WHERE e.layer = 'stdio' AND e.category IN ('read', 'write') AND e.bytes > 0)");
  return connection.execute(kText);
}

}  // namespace fathom::analysis
