// SPDX-License-Identifier: MIT
// A batch on its way to a store, as a file of the outbox holds it (docs/formats/outbox.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model.h"
#include "fleet/store.h"

namespace fathom::fleet {

// A batch with its address: what is sent at once, in whole or not at all. The outbox keeps a file
// for each until a store has said that it has it; sent twice, it counts once, by its `id`.
struct Letter {
  std::string place;  // which store it is for (StorePlace::labels)
  std::string job;
  std::string kind;  // of its records; "": it holds rows of a profile
  BatchId id;
  std::vector<ProfileRow> rows;
  std::vector<std::string> records;  // JSON objects
};

inline constexpr std::size_t kMostLetterBytes = std::size_t{128} << 20;

[[nodiscard]] std::string format_letter(const Letter& letter);
// kCorrupt for anything that is not whole: a sum over the text stands before it.
Result<Letter> parse_letter(std::string_view text);

// Hands it to the store; see JobStore for what may go wrong.
Status deliver(JobStore& store, const Letter& letter);

}  // namespace fathom::fleet
