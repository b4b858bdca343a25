// SPDX-License-Identifier: MIT
// Any bytes as the body of a request. What is taken must be whole: texts in UTF-8, counts from 0.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/utf8.h"
#include "serve/http/coding.h"
#include "serve/http/json_check.h"
#include "serve/http/json_input.h"
#include "serve/http/target.h"
#include "serve/http/tokens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  using namespace fathom::serve;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string profile = text;
  if (const auto batch = read_profile_batch(profile)) {
    if (batch->id.seq < 0 || !is_valid_utf8(batch->id.client)) std::abort();
    for (const fleet::ProfileRow& row : batch->rows) {
      if (row.count < 0 || !is_valid_utf8(row.node + row.exec + row.event)) std::abort();
    }
  }
  std::string records = text;
  if (const auto batch = read_record_batch(records)) {
    for (const std::string& record : batch->records) {
      if (!check_json(record) || !record.starts_with('{')) std::abort();
    }
  }
  (void)read_job(text);
  (void)read_kind(text);
  (void)read_what(text);
  if (const auto query = read_query(text); query && query->limit < -1) std::abort();
  (void)parse_target(text);
  (void)parse_tokens(text);
  for (const Coding coding : {Coding::kGzip, Coding::kZstd}) {
    const Result<std::string> decoded = decode(coding, text, 100'000);
    if (decoded && decoded->size() > 100'000) std::abort();
  }
  return 0;
}
