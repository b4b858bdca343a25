// SPDX-License-Identifier: MIT
#include "analysis/moved_view.h"

namespace fathom::analysis {

Status create_moved_view(sql::Connection& connection) {
  return connection.execute(R"(
    CREATE OR REPLACE VIEW moved AS
    SELECT * FROM events
    WHERE layer = 'posix' AND category IN ('read', 'write', 'copy') AND bytes > 0
    UNION ALL
    SELECT * FROM events e
    WHERE layer = 'stdio' AND category IN ('read', 'write', 'copy') AND bytes > 0
      AND NOT EXISTS (
        FROM summary s WHERE s.layer = 'posix' AND s.bytes > 0 AND s.category = e.category
         AND s.file IS NOT DISTINCT FROM e.file AND s.pid IS NOT DISTINCT FROM e.pid
         AND s.host IS NOT DISTINCT FROM e.host))");
}

}  // namespace fathom::analysis
