// SPDX-License-Identifier: MIT
// Why a question to a recording was ended, as an answer.
#pragma once

#include <string>

#include "base/result.h"
#include "serve/http/http.h"
#include "serve/recordings/open_recordings.h"

namespace fathom::serve {

// What a question that was ended says, and what to do; `end` is not kNot.
[[nodiscard]] Error ended_question(QuestionEnd end, const QuestionLimits& limits);

// The answer to a lease that there is not: 408 or 413 where a limit ended what it takes to prepare
// the recording, or a part of it. 503 where another try may help.
[[nodiscard]] Response refused_lease(const Error& error);

// The same text for the same part of a recording; "" for all of it.
[[nodiscard]] std::string part_key(const analysis::RowFilter& filter);

}  // namespace fathom::serve
