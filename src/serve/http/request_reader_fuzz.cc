// SPDX-License-Identifier: MIT
// Any bytes as what a client sends, through the same reader as a connection's, and what it makes of
// them through the router to a store in memory. The first byte says how large the pieces are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fleet/testing/memory_store.h"
#include "serve/http/request_reader.h"
#include "serve/routes/routes.h"

namespace {

using namespace fathom;
using namespace fathom::serve;

struct Site {
  TokenBook tokens{"/nonexistent", "t"};
  Metrics metrics;
  Router router{tokens, metrics, {}};
  fleet::MemoryStore store;
  Arrivals arrivals{[] { return std::int64_t{0}; }};

  Site() {
    const Subjects subjects{&store, &arrivals};
    add_job_routes(router, subjects);
    add_record_routes(router, subjects);
    add_agent_routes(router, subjects);
    add_self_routes(router, subjects);
    (void)store.create({"j", "", 0});
  }
};

void answer_all(Site& site, RequestReader& reader) {
  while (true) {
    if (reader.stage() == RequestReader::Stage::kHeadDone) {
      if (site.router.refuse(reader.request().head)) return;
      reader.welcome_body(100'000);
    }
    if (reader.stage() != RequestReader::Stage::kDone) return;
    const Response response = site.router.answer(reader.request().head, reader.take_body());
    if (response.status == 500) std::abort();
    if (!reader.request().keeps_open) return;
    reader.next();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t piece = 1 + data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Site site;
  RequestReader reader{Limits{}};
  for (std::size_t at = 0; at < text.size(); at += piece) {
    reader.feed(text.substr(at, piece));
    answer_all(site, reader);
    if (reader.stage() == RequestReader::Stage::kRefused) break;
  }
  return 0;
}
