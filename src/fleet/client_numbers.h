// SPDX-License-Identifier: MIT
// Who this user on this machine is to a store, and which number the next batch has. A number is
// never given twice, whatever dies in between: a store would take the second batch for the first
// and drop it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/model.h"

namespace fathom::fleet {

// The next number. `folder` holds a file for each host, because a home may be on many machines, or
// part of an image that many containers are made from. Any number of processes may ask at a time.
// A file that is damaged is replaced: this user is somebody new then.
Result<BatchId> next_batch(const std::string& folder, const std::string& host);

// The batches of one work of a suite, by FATHOM_WORK_ID: a work that is done again, because nobody
// knows what became of it, sends the same numbers, and a store that has got both counts one.
// `number` counts the batches of this process from 1. None: nobody runs us as a work.
[[nodiscard]] std::optional<BatchId> batch_of_work(std::int64_t number);

// Where nothing can be kept: somebody who was never seen before.
[[nodiscard]] BatchId batch_of_stranger();

}  // namespace fathom::fleet
