// SPDX-License-Identifier: MIT
// The sentences above a report. Only causes above one percent are named, and losses and missing
// layers are said before anything is concluded.
#include "analysis/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/facts.h"
#include "analysis/layer_sql.h"
#include "analysis/losses.h"
#include "analysis/time_words.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/sum.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr double kWorthSaying = 1.0;  // percent

std::string ns_text(std::int64_t ns) { return human_ns(static_cast<double>(ns)); }

// Rows of `events`. What was only summed (layers of the kernel, the heap) is none. A recording that
// is not packed may have been opened for its sums alone.
Result<std::int64_t> events_in(Store& store) {
  const Result<Table> rows = store.query("SELECT count(*) FROM events");
  if (rows) return int_of(rows->rows[0][0]);
  FATHOM_ASSIGN(const Table sums,
                store.query("SELECT CAST(coalesce((SELECT sum(calls) FROM summary), 0) - "
                            "coalesce((SELECT sum(calls) FROM intervals), 0) AS BIGINT)"));
  return std::max<std::int64_t>(0, int_of(sums.rows[0][0]));
}

Result<std::string> what_ran(Store& store, const TimeBase& base) {
  FATHOM_ASSIGN(const std::int64_t events, events_in(store));
  const trace::Manifest& manifest = store.parts()[0].manifest;
  std::string who = manifest.command.empty() ? "The programs" : shell_join(manifest.command);
  if (store.parts().size() > 1) {
    who = counted(store.parts().size(), "recording");
  }
  std::string text = fmt::format("{}: {} wall time, {}, {}, {}", who, ns_text(base.wall),
                                 counted(base.processes, "process"),
                                 counted(base.threads, "thread"), counted(events, "event"));
  if (!manifest.host.hostname.empty() && store.parts().size() == 1) {
    text += " on " + manifest.host.hostname;
  }
  if (manifest.exit_status && *manifest.exit_status != 0 && store.parts().size() == 1) {
    text += fmt::format(", exit status {}", *manifest.exit_status);
  }
  return text + ".";
}

// Threads that nobody listed have a share of this time, too.
bool is_of_one(const TimeBase& base) { return base.threads <= 1 && base.thread_time <= base.wall; }

std::string whose_time(const TimeBase& base) {
  if (is_of_one(base)) return "the main thread's time";
  if (base.threads <= 1) return "the threads' time";
  if (base.processes <= 1) return fmt::format("the time of {} threads", base.threads);
  return fmt::format("the time of {} threads in {} processes", base.threads, base.processes);
}

struct Cause {
  std::string layer, name, file, peer;  // peer: of those the one that took longest
  std::int64_t files = 0;
  std::int64_t peers = 0;
  std::int64_t self = 0;
  std::int64_t calls = 0;
  std::int64_t moved = 0;  // calls that worked
  std::int64_t bytes = 0;
  bool has_bytes = false;
  bool has_inside = false;  // calls inside it took time too
};

Result<std::vector<Cause>> causes(Store& store) {
  static const std::string kCauses = layer_sql(
      "SELECT layer, name, count(DISTINCT file), min(file), CAST(sum(self) AS BIGINT), "
      "CAST(sum(calls) AS BIGINT), CAST(sum(bytes) AS BIGINT), "
      "sum(dur) > sum(self), count(DISTINCT peer), arg_max(peer, of_peer), "
      "CAST(sum(calls - errors) AS BIGINT) FROM ("
      "SELECT layer, name, file, peer, self, calls, errors, dur, CASE WHEN calls > 0 THEN bytes "
      "END AS "
      "bytes, "
      "sum(self) OVER (PARTITION BY layer, name, peer) AS of_peer FROM summary WHERE @undevice) "
      "GROUP BY layer, name "
      "ORDER BY 5 DESC, 6 DESC, 1, 2 LIMIT 3");
  FATHOM_ASSIGN(const Table rows, store.query(kCauses));
  std::vector<Cause> found;
  for (const auto& row : rows.rows) {
    const auto* inside = std::get_if<bool>(&row[7].data);
    found.push_back({.layer = text_of(row[0]),
                     .name = text_of(row[1]),
                     .file = text_of(row[3]),
                     .peer = text_of(row[9]),
                     .files = int_of(row[2]),
                     .peers = int_of(row[8]),
                     .self = int_of(row[4]),
                     .calls = int_of(row[5]),
                     .moved = int_of(row[10]),
                     .bytes = int_of(row[6]),
                     .has_bytes = !row[6].is_null(),
                     .has_inside = inside != nullptr && *inside});
  }
  return found;
}

// " on data.bin", " on pipe from sort (pid 17), 2 other pipes or sockets and 3 files"
std::string places(const Cause& cause) {
  std::string text = cause.peers > 0 ? " on " + cause.peer : "";
  if (cause.peers > 1)
    text +=
        fmt::format("{} {}", cause.files > 0 ? "," : " and",
                    cause.peers == 2 ? "1 other pipe or socket"
                                     : fmt::format("{} other pipes or sockets", cause.peers - 1));
  if (cause.files == 0) return text;
  text += cause.peers > 0 ? " and " : " on ";
  return text +
         (cause.files == 1 ? std::string(base_name(cause.file)) : counted(cause.files, "file"));
}

// "100 calls on data.bin, 1.00 us each, 4.00 KiB per call". Of one call the sentence has told the
// time already: "1 call on data.bin, 4.00 KiB".
std::string describe(const Cause& cause) {
  std::string text = counted(cause.calls, "call") + places(cause);
  if (cause.calls <= 0) return text;
  if (cause.calls > 1) text += fmt::format(", {} each", ns_text(cause.self / cause.calls));
  if (cause.has_bytes && cause.bytes > 0 && cause.moved > 0) {
    const double each = static_cast<double>(cause.bytes) / static_cast<double>(cause.moved);
    text += ", " + human_bytes(each) + (cause.calls > 1 ? " per call" : "");
  }
  return text;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// ", 33.0 % of the wall time (8.8 % of the time of 23 threads)". Threads work side by side, so that
// their sum may exceed the wall time: a share that would be above 100 % is left out.
std::string shares(std::int64_t self, const TimeBase& base, bool first) {
  const bool of_wall = base.wall > 0 && self <= base.wall;
  const bool of_threads = base.threads > 1 && self <= base.thread_time;
  const std::string threads =
      fmt::format("{:.1f} % of {}", share(self, base.thread_time),
                  first || !of_wall ? whose_time(base) : std::string("the threads' time"));
  if (!of_wall) return of_threads ? ", " + threads : "";
  const std::string wall = fmt::format(", {:.1f} % of the wall time", share(self, base.wall));
  return of_threads ? wall + " (" + threads + ")" : wall;
}

// `accounted`: other words have told of all time already.
Status add_causes(Store& store, const TimeBase& base, bool accounted,
                  std::vector<std::string>& words) {
  FATHOM_ASSIGN(const std::vector<Cause> found, causes(store));
  bool first = true;
  for (const Cause& cause : found) {
    const double of_less = share(cause.self, std::min(base.wall, base.thread_time));
    if ((accounted || !first) && of_less < kWorthSaying) break;
    words.push_back(fmt::format("{} {} took {}{}{}: {}.", cause.layer, cause.name,
                                ns_text(cause.self), shares(cause.self, base, first),
                                cause.has_inside ? ", excluding nested calls" : "",
                                describe(cause)));
    first = false;
  }
  const double outside = share(base.thread_time - base.in_calls, base.thread_time);
  if (!accounted && !first && outside >= kWorthSaying) {
    words.push_back(fmt::format(
        "{:.1f} % of {} was outside recorded calls: CPU work, or waits that were not recorded; "
        "'fathom doctor' lists layers that show more.",
        outside, whose_time(base)));
  }
  return {};
}

// Devices work beside the threads, several at once.
Status add_devices(Store& store, std::vector<std::string>& words) {
  static const std::string kWork = layer_sql(
      "SELECT CAST(coalesce(sum(calls), 0) AS BIGINT), CAST(sum(dur) AS BIGINT), "
      "CAST(max(\"last\") - min(\"first\") AS BIGINT) FROM summary "
      "WHERE layer IN @device AND category IS DISTINCT FROM 'sync'");
  FATHOM_ASSIGN(const Table found, store.query(kWork));
  const std::vector<Value>& row = found.rows.at(0);
  if (int_of(row[0]) == 0) return {};
  const std::int64_t works = int_of(row[0]);
  words.push_back(fmt::format(
      "GPUs did {} of work ({}) in the {} between their first and last activity; 'fathom report "
      "TRACE gpu-idle' shows what the host did meanwhile.",
      ns_text(int_of(row[1])),
      works == 1 ? "1 kernel or copy" : fmt::format("{} kernels and copies", works),
      ns_text(int_of(row[2]))));
  return {};
}

// Why there is nothing: by layer that was on, and by process that could not be entered.
void add_emptiness(Store& store, std::vector<std::string>& words) {
  words.emplace_back("No call was recorded.");
  for (const trace::LayerState& layer : layers_of(store.parts())) {
    const bool asked = layer.state == "on" || layer.state == "partial";
    if (asked && layer.events == 0)
      words.push_back("Layer " + layer.layer + ": " + layer.reason + ".");
  }
}

void add_gaps(Store& store, std::vector<std::string>& words) {
  constexpr std::size_t kMostNamed = 3;
  std::size_t uncovered = 0;
  for (const trace::Part& part : store.parts()) {
    for (const trace::NotCovered& one : part.manifest.not_covered) {
      if (++uncovered <= kMostNamed) {
        words.push_back(
            fmt::format("Not covered: {} (process {}): {}.", one.program, one.pid, one.reason));
      }
    }
    for (const trace::DamagedFile& file : part.damaged) {
      words.push_back(fmt::format("Damaged and left out: {} ({}).", file.path, file.reason));
    }
  }
  if (uncovered > kMostNamed) {
    words.push_back(fmt::format("… and {}; 'fathom info TRACE' lists them all.",
                                counted(uncovered - kMostNamed, "more process")));
  }
  const std::string lost = lost_in_all(store.parts());
  words.push_back(lost.empty() ? "Nothing was lost." : lost + "; see Losses.");
  if (store.state() == trace::RunState::kRunning)
    words.emplace_back("The program is still running.");
  if (store.state() != trace::RunState::kPartial) return;
  const std::string& reason = store.parts()[0].manifest.state_reason;
  words.push_back("The recording is partial" + (reason.empty() ? "." : ": " + reason + "."));
}

void add_overhead(Store& store, const TimeBase& base, std::vector<std::string>& words) {
  std::int64_t cost = 0;
  double each = 0;
  for (const trace::Part& part : store.parts()) {
    cost += part.manifest.overhead_ns.value_or(0);
    each = std::max(each, part.manifest.overhead_ns_per_event.value_or(0));
  }
  if (cost <= 0) return;
  const double percent = share(cost, base.thread_time);
  words.push_back(fmt::format("Recording cost the program about {}{}, {} per event.", ns_text(cost),
                              percent <= 100 ? fmt::format(" ({:.1f} % of its time)", percent) : "",
                              human_ns(each)));
}

}  // namespace

Result<std::vector<std::string>> words_about(Store& store, const TimeBase& base,
                                             const Table& time) {
  FATHOM_ASSIGN(std::string first, what_ran(store, base));
  std::vector<std::string> words = {std::move(first)};
  for (std::string& one : time_words(time, is_of_one(base))) words.push_back(std::move(one));
  const bool accounted = !time.rows.empty();
  if (base.events == 0) {
    if (!accounted) add_emptiness(store, words);
  } else {
    FATHOM_TRY(add_causes(store, base, accounted, words));
    FATHOM_TRY(add_devices(store, words));
  }
  add_gaps(store, words);
  add_overhead(store, base, words);
  return words;
}

}  // namespace fathom::analysis
