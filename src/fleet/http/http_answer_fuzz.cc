// SPDX-License-Identifier: MIT
// Any bytes as what a server answers, and any body as its JSON. The first byte says how large the
// pieces are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "fleet/http/http_answer.h"
#include "fleet/http/http_url.h"
#include "fleet/stores/remote_answers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  using namespace fathom::fleet;
  if (size < 1) return 0;
  const std::size_t piece = 1 + data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string body;
  AnswerReader reader(data[0] == 1, [&](std::string_view bytes) {
    body += bytes;
    return body.size() < 100'000;
  });
  bool good = true;
  for (std::size_t at = 0; at < text.size() && good && !reader.is_done(); at += piece)
    good = reader.feed(text.substr(at, piece)).has_value();
  if (good && !reader.is_done()) (void)reader.finish();
  HttpAnswer answer = reader.head();
  answer.body = text;
  (void)refusal_of(answer);
  (void)parse_jobs(answer.body);
  (void)parse_job(answer.body);
  (void)parse_kinds(answer.body);
  (void)parse_profile(answer.body, [](const ProfileRow& row) {
    if (row.count < 0 || !is_valid_utf8(row.node + row.exec + row.event)) std::abort();
    return true;
  });
  (void)parse_records(answer.body, 0, [](std::int64_t /*index*/, const std::string& record) {
    if (!record.starts_with('{')) std::abort();
    return true;
  });
  (void)parse_http_url(text);
  return 0;
}
