// SPDX-License-Identifier: MIT
// Where the time of a call went, level by level, down to the device.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/walk/call_parts.h"
#include "base/plural.h"
#include "base/text.h"
#include "sql/quote.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::string_view kRequests = "block";
constexpr std::string_view kInQueue = "(in the queue)";
constexpr std::string_view kAtDevice = "(at the device)";
constexpr std::string_view kCallsOfKernel = "syscall";
constexpr std::string_view kCallsOfDriver = "cuda";
// What to record for more levels, outermost first: vfs tells hardly more than syscall does.
constexpr std::string_view kTelling[] = {kCallsOfKernel, "fs", "pagecache", kRequests, "sched"};
constexpr std::int64_t kDepths = 1 << 20;  // of a layer

std::int64_t place_of(std::string_view layer) {
  const auto* const found = std::ranges::find(trace::kLayers, layer, &trace::LayerDef::name);
  // A request goes on while its thread sleeps.
  if (found != std::end(trace::kLayers) && found->innermost) return std::ssize(trace::kLayers);
  return found - std::begin(trace::kLayers);
}

using Thread = std::tuple<std::string, std::int64_t, std::int64_t>;  // host, pid, tid

struct Kind {
  std::string layer, name;
  bool operator<(const Kind& other) const {
    return std::tie(layer, name) < std::tie(other.layer, other.name);
  }
};

struct Row {
  Thread thread;
  CallPiece piece;
  std::int64_t queued = -1;  // of a request: ns before the device got it; -1: not known
};

// Reads calls and what is inside them, and hands them over call by call.
class Explainer {
 public:
  Explainer(Store& store, Kind call) : store_(store), parts_(0) { number_of(std::move(call)); }

  Status run(const std::string& where) {
    FATHOM_TRY(each_row(where + " ORDER BY 1, 2, 3, ts, dur DESC", [&](const Row& row) {
      std::vector<CallPiece>& calls = calls_[row.thread];
      const bool nested =
          !calls.empty() &&
          row.piece.ts < calls.back().ts + std::max<std::int64_t>(1, calls.back().dur);
      if (!nested) calls.push_back(row.piece);
    }));
    FATHOM_TRY(each_row("layer IN (" + layers_below() + ") ORDER BY 1, 2, 3, ts, dur DESC",
                        [&](const Row& row) { take(row); }));
    finish_thread();
    for (const auto& [thread, calls] : calls_)
      for (const CallPiece& call : calls) parts_.add(call, {});
    return {};
  }

  [[nodiscard]] const CallParts& parts() const { return parts_; }
  [[nodiscard]] const Kind& kind(std::uint32_t number) const { return kinds_[number]; }

 private:
  template <class OnRow>
  Status each_row(const std::string& where, OnRow on_row) {
    return store_.stream_chunks(
        "SELECT coalesce(host, ''), CAST(coalesce(pid, -1) AS BIGINT), "
        "CAST(coalesce(tid, -1) AS BIGINT), CAST(ts AS BIGINT) AS ts, CAST(dur AS BIGINT) AS dur, "
        "layer, name, CAST(coalesce(depth, 0) AS BIGINT), CASE WHEN layer = '" +
            std::string(kRequests) +
            "' THEN TRY_CAST(args['queue'] AS BIGINT) END FROM events WHERE " + where,
        [&](const sql::Chunk& chunk) -> Status {
          for (std::size_t i = 0; i < chunk.rows(); ++i) on_row(row_of(chunk, i));
          return {};
        });
  }

  Row row_of(const sql::Chunk& chunk, std::size_t at) {
    const Kind kind{std::string(chunk.text(5, at).value_or("")),
                    std::string(chunk.text(6, at).value_or(""))};
    const std::int64_t depth =
        std::clamp<std::int64_t>(chunk.int64(7, at).value_or(0), 0, kDepths - 1);
    return {.thread = {std::string(chunk.text(0, at).value_or("")), chunk.int64(1, at).value_or(-1),
                       chunk.int64(2, at).value_or(-1)},
            .piece = {.ts = chunk.int64(3, at).value_or(0),
                      .dur = std::max<std::int64_t>(0, chunk.int64(4, at).value_or(0)),
                      .rank = place_of(kind.layer) * kDepths + depth,
                      .kind = number_of(kind)},
            .queued = chunk.int64(8, at).value_or(-1)};
  }

  std::uint32_t number_of(Kind kind) {
    const auto [place, is_new] =
        numbers_.try_emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) kinds_.push_back(std::move(kind));
    return place->second;
  }

  [[nodiscard]] std::string layers_below() const {
    std::vector<std::string> names;
    for (const trace::LayerDef& layer : trace::kLayers) {
      if (place_of(layer.name) >= place_of(kinds_[0].layer))
        names.push_back(sql::quote_literal(std::string(layer.name)));
    }
    return join(names, ", ");
  }

  // Clocks of layers differ by a little: what lies in a call is what has its middle there. A
  // request may go on when the call that made it has ended.
  void take(const Row& row) {
    if (row.thread != thread_) {
      finish_thread();
      thread_ = row.thread;
    }
    const auto calls = calls_.find(row.thread);
    if (calls == calls_.end()) return;
    const bool by_begin = kinds_[row.piece.kind].layer == kRequests;
    const std::int64_t at = by_begin ? row.piece.ts : row.piece.ts + row.piece.dur / 2;
    const auto after = std::ranges::upper_bound(calls->second, at, {}, &CallPiece::ts);
    if (after == calls->second.begin()) return;
    const CallPiece& call = *std::prev(after);
    const bool is_itself =
        row.piece.kind == call.kind && row.piece.ts == call.ts && row.piece.dur == call.dur;
    if (at <= call.ts + call.dur && !is_itself) put(row, inside_[call.ts]);
    while (!inside_.empty()) {  // what begins from now on is in none that has ended
      const CallPiece& first = waiting_call(calls->second);
      if (first.ts + first.dur >= row.piece.ts) break;
      finish_first(calls->second);
    }
  }

  // A request has two parts.
  void put(const Row& row, std::vector<CallPiece>& pieces) {
    pieces.push_back(row.piece);
    if (row.queued < 0) return;
    CallPiece part = row.piece;
    part.rank++;
    part.dur = std::min(row.queued, row.piece.dur);
    part.kind = number_of({std::string(kRequests), std::string(kInQueue)});
    pieces.push_back(part);
    part.ts += part.dur;
    part.dur = row.piece.dur - part.dur;
    part.kind = number_of({std::string(kRequests), std::string(kAtDevice)});
    pieces.push_back(part);
  }

  [[nodiscard]] const CallPiece& waiting_call(const std::vector<CallPiece>& calls) const {
    return *std::ranges::lower_bound(calls, inside_.begin()->first, {}, &CallPiece::ts);
  }

  void finish_first(const std::vector<CallPiece>& calls) {
    const auto waits = inside_.begin();
    parts_.add(waiting_call(calls), waits->second);
    finished_.insert(waits->first);
    inside_.erase(waits);
  }

  void finish_thread() {
    const auto calls = calls_.find(thread_);
    if (calls == calls_.end()) return;
    while (!inside_.empty()) finish_first(calls->second);
    std::erase_if(calls->second,
                  [&](const CallPiece& call) { return finished_.contains(call.ts); });
    finished_.clear();
  }

  Store& store_;
  CallParts parts_;
  std::vector<Kind> kinds_;  // the first one is the call itself
  std::map<Kind, std::uint32_t> numbers_;
  std::map<Thread, std::vector<CallPiece>> calls_;  // that are left; those of a thread by time
  Thread thread_;
  std::map<std::int64_t, std::vector<CallPiece>> inside_;  // by the begin of their call
  std::set<std::int64_t> finished_;
};

// What a level does that no level below it tells of.
std::string_view rest_of(const Kind& kind) {
  const std::string_view layer = kind.layer;
  if (kind.name == kInQueue || kind.name == kAtDevice) return "(while the thread ran)";
  if (trace::is_code(layer)) return "(own code)";
  if (trace::is_io(layer)) return "(C library and entry into the kernel)";
  if (layer == kCallsOfKernel || layer == "vfs") return "(the kernel: copying, locks, page cache)";
  if (layer == kRequests) return "(the device, while the thread ran)";
  return "(the rest)";
}

class TreeTable {
 public:
  explicit TreeTable(const Explainer& found)
      : found_(found), nodes_(found.parts().nodes()), totals_(found.parts().totals()) {
    for (std::size_t i = 1; i < nodes_.size(); ++i) inside_[nodes_[i].parent].push_back(i);
    for (auto& [parent, inside] : inside_)
      std::ranges::stable_sort(inside, std::greater(), [&](std::size_t i) { return totals_[i]; });
    table_.title = "Where the time went";
    table_.columns = {
        {"depth"},          {"call"}, {"layer"}, {"calls", kCount}, {"time", kNanoseconds},
        {"share", kPercent}};
    add(0, 0);
  }
  Table take() { return std::move(table_); }

 private:
  void add(std::size_t at, std::int64_t depth) {
    const CallNode& node = nodes_[at];
    const Kind& kind = found_.kind(node.kind);
    row(depth, kind.name, kind.layer, node.calls, totals_[at]);
    const auto inside = inside_.find(at);
    if (inside == inside_.end()) return;
    for (const std::size_t child : inside->second) add(child, depth + 1);
    const bool is_in_parts = kind.layer == kRequests && node.self == 0;
    if (totals_[at] > 0 && !is_in_parts)
      row(depth + 1, std::string(rest_of(kind)), kind.layer, 0, node.self);
  }

  void row(std::int64_t depth, const std::string& name, const std::string& layer,
           std::int64_t calls, std::int64_t time) {
    table_.rows.push_back({depth, name, layer, calls > 0 ? Value(calls) : Value(), time,
                           percent_of(time, totals_[0])});
  }

  const Explainer& found_;
  const std::vector<CallNode>& nodes_;
  std::vector<std::int64_t> totals_;
  std::map<std::size_t, std::vector<std::size_t>> inside_;
  Table table_;
};

// The uppermost layer that has such calls one by one.
Result<std::optional<std::string>> layer_of(Store& store, const std::string& where) {
  FATHOM_ASSIGN(
      const Table layers,
      store.query("SELECT DISTINCT layer FROM events WHERE layer IS NOT NULL AND " + where));
  std::optional<std::string> best;
  for (const auto& row : layers.rows) {
    const std::string layer = text_of(row[0]);
    if (!best || place_of(layer) < place_of(*best)) best = layer;
  }
  return best;
}

// Layers of the kernel that could have told more, had they been asked.
Result<std::vector<std::string>> not_in_detail(Store& store, const std::string& layer) {
  FATHOM_ASSIGN(const Table seen, store.query("SELECT DISTINCT layer FROM events"));
  std::set<std::string> known;
  for (const auto& row : seen.rows) known.insert(text_of(row[0]));
  std::vector<std::string> missing;
  for (const std::string_view below : kTelling) {
    std::string name(below);
    if (place_of(below) > place_of(layer) && !known.contains(name))
      missing.push_back(std::move(name));
  }
  return missing;
}

Result<Report> nothing_found(Store& store, const std::string& where) {
  FATHOM_ASSIGN(const Table sums, store.query("SELECT count(*) FROM intervals WHERE " + where));
  Table table{.title = "Where the time went", .columns = {}, .rows = {}, .note = {}};
  table.note = int_of(sums.rows[0][0]) > 0
                   ? "only sums of these calls were recorded; fathom run --detail records each call"
                   : "no event of such a call was recorded";
  return Report{.words = {}, .sections = {{std::move(table), Shape::kTree}}};
}

// The one that took longest, of libraries and the kernel where there are such: these are the calls
// that a page offers, too. A fault is in no call of theirs.
Result<std::string> longest_call(Store& store, const std::string& where) {
  static const std::string libraries_first = layer_sql(
      fmt::format("coalesce(layer IN @io OR layer IN ('{}', '{}') OR (layer = 'pagecache' AND name "
                  "= 'fault'), false) DESC",
                  kCallsOfKernel, kCallsOfDriver));
  FATHOM_ASSIGN(const Table found, store.query("SELECT name FROM events WHERE " + where +
                                               " GROUP BY name, layer ORDER BY " + libraries_first +
                                               ", sum(dur) DESC, name LIMIT 1"));
  return found.rows.empty() ? std::string() : text_of(found.rows[0][0]);
}

Result<Report> run(Store& store, const ViewOptions& wanted) {
  ViewOptions options = wanted;
  std::string where = options.file.empty() ? "true" : "file = " + sql::quote_literal(options.file);
  if (options.call.empty()) {
    FATHOM_ASSIGN(options.call, longest_call(store, where));
  }
  where += " AND name = " + sql::quote_literal(options.call);
  FATHOM_ASSIGN(const std::optional<std::string> layer, layer_of(store, where));
  if (!layer) return nothing_found(store, where);
  Explainer explainer(store, {*layer, options.call});
  FATHOM_TRY(explainer.run(where + " AND layer = " + sql::quote_literal(*layer)));
  const CallNode& root = explainer.parts().nodes()[0];
  const std::int64_t total = explainer.parts().totals()[0];
  Report report;
  const auto time = static_cast<double>(total);
  std::string first =
      fmt::format("{} of {} ({}){}: {}", counted(root.calls, "call"), options.call, *layer,
                  options.file.empty() ? "" : " on " + options.file, human_ns(time));
  if (root.calls > 1)
    first += fmt::format(" in all, {} each", human_ns(time / static_cast<double>(root.calls)));
  report.words.push_back(first + ".");
  FATHOM_ASSIGN(const std::vector<std::string> missing, not_in_detail(store, *layer));
  if (!missing.empty()) {
    const std::string option = join(missing, ",");
    report.words.push_back(fmt::format(
        "No events of single calls in {} {}; to record them: fathom run --layers +{} --detail {}.",
        missing.size() == 1 ? "layer" : "layers", join(missing, ", "), option, option));
  }
  report.sections.push_back({TreeTable(explainer).take(), Shape::kTree});
  return report;
}

}  // namespace

extern const ViewDef kExplainView;
const ViewDef kExplainView = {
    .name = "explain",
    .help = "where the time of one call (--call) went, layer by layer, down to the device",
    .by = {},
    .run = run,
    .of_events = true,
    .of_call = true,
};

}  // namespace fathom::analysis
