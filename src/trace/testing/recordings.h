// SPDX-License-Identifier: MIT
// Segments of small programs, and questions to what became of them.
#pragma once

#include <unistd.h>

#include <cstring>
#include <string>

#include "sql/connection.h"
#include "sql/database.h"
#include "sql/quote.h"
#include "trace/recording/recording.h"
#include "trace/spool/spool.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace::testing {

inline constexpr std::uint64_t kKey = 0x77;
inline constexpr std::uint32_t kDead = SpoolBuilder::kDeadPid;

inline SegmentSpec dead_segment(const SpoolBuilder& spool) {
  return {small_program(spool, kKey, kDead).bytes(), FATHOM_SEGMENT_OWNED, kDead, kKey};
}
inline SegmentSpec live_segment(const SpoolBuilder& spool) {
  RecordWriter w;
  const auto pid = static_cast<std::uint64_t>(::getpid());
  w.switch_to({0x99, pid, pid, 0, 0, 0, spool.at(9999000000)});
  w.string(1, "step").site(2, 1, 0).region(0, spool.at(9999000100), spool.at(9999000200), 2);
  return {w.bytes(), FATHOM_SEGMENT_OWNED, static_cast<std::uint32_t>(pid), 0x99};
}

// As a thread does that claims the segment and fills it.
inline void fill(const Pool& pool, std::uint32_t index, const SegmentSpec& spec) {
  fathom_segment& segment = pool.segment(index);
  std::memcpy(&segment + 1, spec.bytes.data(), spec.bytes.size());
  segment.owner_key = spec.owner_key;
  segment.progress = FATHOM_SEGMENT_HEADER_SIZE + spec.bytes.size();
  segment.claim =
      fathom_claim(spec.state, spec.state == FATHOM_SEGMENT_OWNED ? spec.owner_pid : 0, 0);
}

// One value out of a recording's Parquet files.
inline std::string ask(const Recording& recording, const std::string& table,
                       const std::string& what) {
  std::string files;
  for (const Part& part : recording.parts) {
    const auto found = part.files.find(table);
    if (found == part.files.end()) continue;
    for (const DataFile& file : found->second)
      files += (files.empty() ? "" : ", ") + sql::quote_literal(file.source);
  }
  if (files.empty()) return "no files";
  auto connection = sql::Connection::open(sql::Database::open_memory().value()).value();
  const Result<Table> answer =
      connection.query("SELECT (" + what + ")::VARCHAR FROM read_parquet([" + files + "])");
  if (!answer) return answer.error().message;
  const auto* text = std::get_if<std::string>(&answer->rows.at(0).at(0).data);
  return text != nullptr ? *text : "NULL";
}

}  // namespace fathom::trace::testing
