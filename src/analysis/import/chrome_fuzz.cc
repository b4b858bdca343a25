// SPDX-License-Identifier: MIT
// Any bytes as a Chrome trace: both passes, in memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/import/chrome_event.h"
#include "analysis/import/chrome_rows.h"
#include "analysis/import/chrome_spans.h"
#include "analysis/import/json_events.h"

namespace fathom::analysis {
namespace {

template <class Use>
void each_event(std::string_view content, Use use) {
  JsonEvents reader = JsonEvents::of(content);
  ChromeParser parser;
  ChromeEvent event;
  while (true) {
    const Result<std::optional<std::string_view>> object = reader.next();
    if (!object || !*object) return;
    if (parser.parse(**object, event)) use(event);
  }
}

bool is_counter(const ChromeEvent& event) {
  return event.phase == 'C' && event.ts && !event.name.empty();
}

void import(std::string_view content) {
  ChromeFacts facts;
  ChromeSpans counted([&](const ChromeSpan& span) { facts.add(span); });
  each_event(content, [&](const ChromeEvent& event) {
    if (event.phase == 'M') facts.add_name(event);
    if (is_counter(event)) facts.add_counter(event);
    if (event.phase != 'C') counted.add(event);
  });
  facts.finish();
  trace::Strings strings;
  ChromeRows rows(facts, strings);
  trace::EventBatch events;
  trace::CounterBatch counters;
  ChromeSpans spans([&](const ChromeSpan& span) { rows.add(span, events); });
  each_event(content, [&](const ChromeEvent& event) {
    if (is_counter(event)) rows.add_counter(event, counters);
    if (event.phase != 'C') spans.add(event);
  });
  if (events.rows() > static_cast<std::size_t>(facts.rows())) std::abort();  // the passes agree
  (void)facts.processes();
  (void)facts.threads();
}

}  // namespace
}  // namespace fathom::analysis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::analysis::import({reinterpret_cast<const char*>(data), size});
  return 0;
}
