// SPDX-License-Identifier: MIT
// What both stores refuse before they touch anything, so that what one keeps the other can keep
// too.
#pragma once

#include <string>

#include "base/result.h"
#include "fleet/model.h"

namespace fathom::fleet {

// A field of every node in Redis: no event can have this name.
inline constexpr std::string_view kExecField = "execname";

// kInvalid with the place of what is wrong.
Status check_job_name(const std::string& name);
Status check_batch(const ProfileBatch& batch);
Status check_batch(const RecordBatch& batch);
Status check_kind(const RecordKind& kind);
Status check_range(const SentRange& range);

Error no_such_job(const std::string& name);
Error job_exists(const std::string& name);
Error no_such_kind(const std::string& name);
Error kind_differs(const std::string& name);
Error sum_too_large(const ProfileRow& row);

}  // namespace fathom::fleet
