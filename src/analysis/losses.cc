// SPDX-License-Identifier: MIT
// Words losses as one clause for verdicts and as one remark below reports. trace/ decides which
// losses hide events; this file only adds them up and names them.
#include "analysis/losses.h"

#include <algorithm>
#include <functional>

#include "analysis/facts.h"
#include "base/plural.h"
#include "base/sum.h"
#include "base/text.h"
#include "trace/spool/losses.h"

namespace fathom::analysis {

std::string losses_text(std::vector<trace::Loss> losses) {
  constexpr std::size_t kMostNamed = 3;
  std::ranges::stable_sort(losses, std::ranges::greater(), &trace::Loss::count);
  std::vector<std::string> words;
  for (const trace::Loss& loss : losses) {
    if (words.size() == kMostNamed) {
      words.emplace_back("others");
      break;
    }
    const std::string layer = loss.layer.empty() ? "" : " of layer " + loss.layer;
    words.push_back(counted(loss.count, "event") + layer + " (" + loss.reason + ")");
  }
  return join(words, ", ");
}

namespace {

struct Lost {
  std::int64_t events = 0;
  std::int64_t parts = 0;  // events that are there, without a name or a place
};

Lost lost_of(const std::vector<trace::Part>& parts) {
  Lost lost;
  for (const trace::Loss& loss : losses_of(parts)) {
    if (trace::is_lost(loss))
      add_to(trace::hides_events(loss) ? lost.events : lost.parts, loss.count);
  }
  return lost;
}

std::string words_of(const Lost& lost) {
  if (lost.events > 0) return "Lost: " + counted(lost.events, "event");
  return lost.parts == 0 ? "" : "Lost: parts of " + counted(lost.parts, "event");
}

}  // namespace

std::string lost_in_all(const std::vector<trace::Part>& parts) { return words_of(lost_of(parts)); }

std::string loss_remark(const std::vector<trace::Part>& parts, std::string_view view) {
  if (view == "overview" || view == "losses") return "";
  const Lost lost = lost_of(parts);
  const std::string words = words_of(lost);
  if (words.empty()) return "";
  return words +
         (lost.events > 0 ? ", so sums may be too small" : ", so names or places are missing") +
         "; 'fathom report TRACE losses' says why.";
}

}  // namespace fathom::analysis
