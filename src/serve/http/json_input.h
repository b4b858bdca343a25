// SPDX-License-Identifier: MIT
// Bodies that clients send, read from JSON. Each function refuses what it does not know: a field of
// another name, a field told twice, a number that is no whole one. Errors are kInvalid and name the
// place: "rows[3].count must be a whole number from 0 to 9223372036854775807 (byte 118)".
//
// The text may get some spare bytes behind its end, which the reader of bulk JSON needs.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "fleet/model.h"

namespace fathom::serve {

// {"client": ID, "seq": N, "rows": [{"node", "exec", "event", "count"}]}
Result<fleet::ProfileBatch> read_profile_batch(std::string& text);

// {"client": ID, "seq": N, "records": [{…}]}: each record is whole JSON and kept as it came.
Result<fleet::RecordBatch> read_record_batch(std::string& text);

// {"name": NAME, "info": TEXT}; without info it is empty.
Result<fleet::Job> read_job(const std::string& text);

// {"name": NAME, "schema": {…}}
Result<fleet::RecordKind> read_kind(const std::string& text);

// {"what": "profile"} or {"what": KIND}
Result<std::string> read_what(const std::string& text);

// {"recording": ID, "sql": STATEMENT, "limit": N}; the first and the last may be left out.
struct AskedQuery {
  std::string recording;
  std::string sql;
  std::int64_t limit = -1;  // -1: as many as there may be
};
Result<AskedQuery> read_query(const std::string& text);

}  // namespace fathom::serve
