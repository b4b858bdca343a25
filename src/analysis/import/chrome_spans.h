// SPDX-License-Identifier: MIT
// Objects of a Chrome trace into whole events: begins and ends are put together, whoever wrote
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/import/chrome_event.h"

namespace fathom::analysis {

// A call with its begin and its length. `on_thread`: it nests with the others of its thread.
struct ChromeSpan {
  std::string_view name, category, id;
  std::string_view pid_text, tid_text;
  std::int64_t pid = -1;  // -1: none
  std::int64_t tid = -1;
  std::int64_t ts = 0;
  std::int64_t dur = 0;
  bool on_thread = true;
  std::vector<std::pair<std::string, std::string>> args;
};

// Calls `on_span` from within add(), once an event is whole; what it gets is valid during that
// call. Begins without an end wait here, so memory grows with what is open. One thread at a time.
class ChromeSpans {
 public:
  using OnSpan = std::function<void(const ChromeSpan&)>;
  enum class Outcome : std::uint8_t { kTaken, kDamaged, kOther };

  explicit ChromeSpans(OnSpan on_span) : on_span_(std::move(on_span)) {}

  // X, B, E, b, e, n, i, I, R, S, F. kOther: no kind of span.
  Outcome add(const ChromeEvent& event);
  // Begins that never ended and ends that never began, by what they are called.
  [[nodiscard]] std::map<std::string, std::int64_t> left_out() const;

 private:
  struct Open {
    std::string name, category;
    std::int64_t ts = 0;
    std::vector<std::pair<std::string, std::string>> args;
  };
  using Thread = std::tuple<std::string, std::string>;             // pid, tid
  using Task = std::tuple<std::string, std::string, std::string>;  // pid, category, id

  void tell(const ChromeEvent& event, const Open& open, std::int64_t end, bool on_thread);
  Outcome end(const ChromeEvent& event, std::vector<Open>& open, bool on_thread);

  OnSpan on_span_;
  std::map<Thread, std::vector<Open>> threads_;
  std::map<Task, std::vector<Open>> tasks_;
  std::int64_t ends_without_begin_ = 0;
};

}  // namespace fathom::analysis
