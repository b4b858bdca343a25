// SPDX-License-Identifier: MIT
// Begins and ends of a Chrome trace into whole events. B and E nest in their thread, so the last
// begin is meant; b and e (asynchronous) belong to an id and may end in any order. Ends without a
// begin are counted and reported, not guessed.
#include "analysis/import/chrome_spans.h"

#include <algorithm>

namespace fathom::analysis {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// An argument of the end does not replace the one of the begin.
void add_args(const ChromeEvent& event, Pairs& args) {
  for (const ChromeArg& arg : event.args) {
    const auto same = std::ranges::find(
        args, arg.key, [](const auto& pair) -> std::string_view { return pair.first; });
    if (same == args.end()) args.emplace_back(arg.key, arg.text);
  }
}

std::string text_of(const std::optional<std::int64_t>& number, std::string_view text) {
  return number ? std::to_string(*number) : std::string(text);
}

}  // namespace

void ChromeSpans::tell(const ChromeEvent& event, const Open& open, std::int64_t end,
                       bool on_thread) {
  ChromeSpan span;
  span.name = open.name;
  span.category = open.category;
  span.id = on_thread ? std::string_view() : event.id;
  span.pid_text = event.pid_text;
  span.tid_text = event.tid_text;
  span.pid = event.pid.value_or(-1);
  span.tid = event.tid.value_or(-1);
  span.ts = open.ts;
  span.dur = std::max<std::int64_t>(end - open.ts, 0);
  span.on_thread = on_thread;
  span.args = open.args;
  on_span_(span);
}

ChromeSpans::Outcome ChromeSpans::end(const ChromeEvent& event, std::vector<Open>& open,
                                      bool on_thread) {
  if (open.empty()) {
    ++ends_without_begin_;
    return Outcome::kTaken;
  }
  // Asynchronous ones may end in any order; their name tells which.
  auto which = open.end() - 1;
  if (!on_thread) {
    const auto same = std::find_if(open.rbegin(), open.rend(),
                                   [&](const Open& one) { return one.name == event.name; });
    if (same != open.rend()) which = same.base() - 1;
  }
  add_args(event, which->args);
  tell(event, *which, *event.ts, on_thread);
  open.erase(which);
  return Outcome::kTaken;
}

ChromeSpans::Outcome ChromeSpans::add(const ChromeEvent& event) {
  constexpr std::string_view kSpans = "XBEbeniIRSF";
  if (kSpans.find(event.phase) == std::string_view::npos) return Outcome::kOther;
  if (!event.ts) return Outcome::kDamaged;
  const std::string pid = text_of(event.pid, event.pid_text);
  const bool task = event.phase == 'b' || event.phase == 'e' || event.phase == 'S' ||
                    event.phase == 'F' || event.phase == 'n';
  std::vector<Open>& open = task ? tasks_[{pid, std::string(event.category), std::string(event.id)}]
                                 : threads_[{pid, text_of(event.tid, event.tid_text)}];
  if (event.phase == 'E' || event.phase == 'e' || event.phase == 'F')
    return end(event, open, !task);
  if (event.name.empty()) return Outcome::kDamaged;
  Open one{std::string(event.name), std::string(event.category), *event.ts, {}};
  add_args(event, one.args);
  if (event.phase == 'B' || event.phase == 'b' || event.phase == 'S') {
    open.push_back(std::move(one));
  } else {
    tell(event, one, *event.ts + (event.phase == 'X' ? event.dur : 0), !task);
  }
  return Outcome::kTaken;
}

std::map<std::string, std::int64_t> ChromeSpans::left_out() const {
  std::int64_t begins = 0;
  for (const auto& [key, open] : threads_) begins += static_cast<std::int64_t>(open.size());
  for (const auto& [key, open] : tasks_) begins += static_cast<std::int64_t>(open.size());
  std::map<std::string, std::int64_t> counts;
  if (begins > 0) counts["begin without an end"] = begins;
  if (ends_without_begin_ > 0) counts["end without a begin"] = ends_without_begin_;
  return counts;
}

}  // namespace fathom::analysis
