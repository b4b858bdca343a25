// SPDX-License-Identifier: MIT
// What a server answers, read from JSON. A server is trusted no more than a client: what is not as
// the API says is kCorrupt.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/http/http_client.h"
#include "fleet/store.h"

namespace fathom::fleet {

Result<std::vector<Job>> parse_jobs(const std::string& text);
Result<Job> parse_job(const std::string& text);
Result<std::vector<RecordKind>> parse_kinds(const std::string& text);

// The text may get some spare bytes behind its end.
Status parse_profile(std::string& text, const JobStore::TakesRow& take);
Status parse_records(std::string& text, std::int64_t from, const JobStore::TakesRecord& take);

// The Error that a status stands for, in the server's words.
[[nodiscard]] Error refusal_of(const HttpAnswer& answer);

}  // namespace fathom::fleet
