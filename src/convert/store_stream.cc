// SPDX-License-Identifier: MIT
// Adapts a store to the EventStream that exporters read. `render` must not know SQL, and `analysis`
// must not know export formats.
#include "convert/store_stream.h"

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/facts.h"
#include "analysis/layers.h"
#include "base/demangle.h"
#include "convert/programs.h"
#include "convert/row_cells.h"
#include "convert/thread_slices.h"
#include "sql/quote.h"

namespace fathom::convert {
namespace {

constexpr char kEventColumns[] =
    "SELECT ts, dur, host, pid, tid, rank, depth, fd, \"offset\", size, bytes, ret, device, "
    "stream, correlation, layer, name, entry, category, file, error, args FROM events";

// A process or thread that was several programs is shown as the last of them: viewers know one name
// for a number. Rows of an earlier one bear its name (programs.h).
constexpr char kLastImage[] =
    " QUALIFY row_number() OVER (PARTITION BY host, pid ORDER BY start DESC NULLS LAST) = 1";
constexpr char kLastThread[] =
    " QUALIFY row_number() OVER (PARTITION BY host, pid, tid ORDER BY start DESC NULLS LAST) = 1";

render::ExportEvent event_of(RowCells cells, std::vector<render::ExportArg>& args) {
  render::ExportEvent event;
  event.ts = cells.number_or_0();
  event.dur = cells.number_or_0();
  event.host = cells.text();
  for (render::ExportNumber* number :
       {&event.pid, &event.tid, &event.rank, &event.depth, &event.fd, &event.offset, &event.size,
        &event.bytes, &event.ret, &event.device, &event.stream, &event.correlation})
    *number = cells.number();
  for (std::string_view* text :
       {&event.layer, &event.name, &event.entry, &event.category, &event.file, &event.error})
    *text = cells.text();
  cells.map(args);
  event.args = args;
  return event;
}

// A kernel's name, as its programmer wrote it.
std::string_view readable(std::string_view name,
                          std::unordered_map<std::string, std::string>& known) {
  const auto [found, fresh] = known.try_emplace(std::string(name));
  if (fresh) found->second = demangle(found->first);
  return found->second;
}

// The frames of all stacks, each text once.
class Stacks {
 public:
  Status load(analysis::Store& store) {
    // Recordings that are shown as one may hold the same stack, under the same number.
    return each_row(store,
                    "SELECT DISTINCT stack, depth, \"function\", module, file, line FROM frames "
                    "WHERE stack IS NOT NULL ORDER BY stack, depth",
                    [&](RowCells cells) -> Status {
                      std::vector<render::ExportFrame>& frames = stacks_[cells.number_or_0()];
                      (void)cells.number();
                      render::ExportFrame frame;
                      frame.function = keep(cells.text());
                      frame.module = keep(cells.text());
                      frame.file = keep(cells.text());
                      frame.line = cells.number();
                      frames.push_back(frame);
                      return {};
                    });
  }

  [[nodiscard]] std::span<const render::ExportFrame> frames(
      const render::ExportNumber& stack) const {
    const auto found = stacks_.find(stack.value_or(-1));
    if (found == stacks_.end()) return {};
    return found->second;
  }

 private:
  std::string_view keep(std::string_view text) {
    return text.empty() ? std::string_view() : *texts_.emplace(text).first;
  }

  std::unordered_set<std::string> texts_;  // nodes do not move
  std::unordered_map<std::int64_t, std::vector<render::ExportFrame>> stacks_;
};

}  // namespace

StoreStream::StoreStream(analysis::Store& store, RowFilter filter)
    : store_(&store), filter_(std::move(filter)) {}

// Several recordings stand on one time line, which begins with the first.
std::int64_t StoreStream::start_realtime_ns() const {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  for (const trace::Part& part : store_->parts())
    start = std::min(start, part.manifest.start_realtime_ns);
  return start;
}

std::string StoreStream::where(std::string_view view) const {
  return analysis::where_sql(*analysis::find_filtered_view(view), filter_);
}

Status StoreStream::processes(const std::function<Status(const render::ExportProcess&)>& use) {
  const std::string sql = "SELECT host, pid, ppid, rank, name, command FROM processes" +
                          where("processes") + " AND pid IS NOT NULL" + kLastImage +
                          " ORDER BY host, pid";
  return each_row(*store_, sql, [&](RowCells cells) {
    render::ExportProcess process;
    process.host = cells.text();
    process.pid = cells.number_or_0();
    process.ppid = cells.number();
    process.rank = cells.number();
    process.name = cells.text();
    process.command = cells.text();
    return use(process);
  });
}

Status StoreStream::threads(const std::function<Status(const render::ExportThread&)>& use) {
  const std::string sql = "SELECT host, pid, tid, name FROM threads" + where("threads") +
                          " AND pid IS NOT NULL AND tid IS NOT NULL" + kLastThread +
                          " ORDER BY host, pid, tid";
  return each_row(*store_, sql, [&](RowCells cells) {
    render::ExportThread thread;
    thread.host = cells.text();
    thread.pid = cells.number_or_0();
    thread.tid = cells.number_or_0();
    thread.name = cells.text();
    return use(thread);
  });
}

Status StoreStream::events(render::EventOrder order,
                           const std::function<Status(const render::ExportEvent&)>& use) {
  std::vector<render::ExportArg> args;
  std::unordered_map<std::string, std::string> kernels;
  Programs programs;
  FATHOM_TRY(programs.load(*store_, where("processes")));
  const auto each = [&](const std::string& sql) {
    return each_row(*store_, sql, [&](RowCells cells) {
      render::ExportEvent event = event_of(cells, args);
      event.program = programs.earlier(event.host, event.pid, event.ts);
      if (analysis::is_device(event.layer)) event.name = readable(event.name, kernels);
      if (event.layer == "cuda") {
        for (auto& [key, value] : args) {
          if (key == "kernel") value = readable(value, kernels);
        }
      }
      return use(event);
    });
  };
  if (order == render::EventOrder::kAny) return each(kEventColumns + where("events"));
  return each_slice(*store_, where("events"), [&](const std::string& condition) {
    return each(
        kEventColumns + condition +
        " ORDER BY host NULLS FIRST, pid NULLS FIRST, tid NULLS FIRST, ts, dur DESC, depth");
  });
}

Status StoreStream::counters(const std::function<Status(const render::ExportCounter&)>& use) {
  const std::string sql =
      "SELECT ts, host, pid, tid, layer, name, unit, value FROM counters" + where("counters") +
      " ORDER BY host NULLS FIRST, pid NULLS FIRST, tid NULLS FIRST, layer, name, ts";
  return each_row(*store_, sql, [&](RowCells cells) {
    render::ExportCounter counter;
    counter.ts = cells.number_or_0();
    counter.host = cells.text();
    counter.pid = cells.number();
    counter.tid = cells.number();
    counter.layer = cells.text();
    counter.name = cells.text();
    counter.unit = cells.text();
    counter.value = cells.real();
    return use(counter);
  });
}

// Rows of `intervals` have no category; their sums do.
Result<StoreStream::Categories> StoreStream::categories() {
  Categories found;
  const std::string sql =
      "SELECT layer, name, min(category) FROM summary WHERE category IS NOT NULL GROUP BY ALL";
  FATHOM_TRY(each_row(*store_, sql, [&](RowCells cells) -> Status {
    std::string layer(cells.text());
    std::string name(cells.text());
    found.try_emplace({std::move(layer), std::move(name)}, cells.text());
    return {};
  }));
  return found;
}

Status StoreStream::intervals(render::IntervalDetail detail,
                              const std::function<Status(const render::ExportInterval&)>& use) {
  FATHOM_ASSIGN(const Categories categories, this->categories());
  std::string sql =
      "SELECT ts, width, host, pid, tid, layer, name, file, calls, errors, dur, dur_min, dur_max, "
      "bytes FROM intervals" +
      where("intervals");
  if (detail == render::IntervalDetail::kByName) {
    sql =
        "SELECT ts, max(width), host, pid, NULL, layer, name, NULL, CAST(sum(calls) AS BIGINT), "
        "CAST(sum(errors) AS BIGINT), CAST(sum(dur) AS BIGINT), min(dur_min), max(dur_max), "
        "CAST(sum(bytes) AS BIGINT) FROM intervals" +
        where("intervals") +
        " GROUP BY host, pid, layer, name, ts ORDER BY host NULLS FIRST, pid NULLS FIRST, layer, "
        "name, ts";
  }
  return each_row(*store_, sql, [&](RowCells cells) {
    render::ExportInterval row;
    row.ts = cells.number_or_0();
    row.width = cells.number_or_0();
    row.host = cells.text();
    row.pid = cells.number();
    row.tid = cells.number();
    row.layer = cells.text();
    row.name = cells.text();
    row.file = cells.text();
    row.calls = cells.number_or_0();
    row.errors = cells.number_or_0();
    row.dur = cells.number_or_0();
    row.dur_min = cells.number();
    row.dur_max = cells.number();
    row.bytes = cells.number();
    const auto category = categories.find({std::string(row.layer), std::string(row.name)});
    if (category != categories.end()) row.category = category->second;
    return use(row);
  });
}

Status StoreStream::samples(const std::function<Status(const render::ExportSample&)>& use) {
  FATHOM_ASSIGN(const Table any, store_->query("SELECT stack FROM samples LIMIT 1"));
  if (any.rows.empty()) return {};
  Stacks stacks;
  FATHOM_TRY(stacks.load(*store_));
  Programs programs;
  FATHOM_TRY(programs.load(*store_, where("processes")));
  const std::string sql = "SELECT ts, host, pid, tid, cpu, event, weight, stack FROM samples" +
                          where("samples") +
                          " ORDER BY host NULLS FIRST, pid NULLS FIRST, tid NULLS FIRST, event, ts";
  return each_row(*store_, sql, [&](RowCells cells) {
    render::ExportSample sample;
    sample.ts = cells.number_or_0();
    sample.host = cells.text();
    sample.pid = cells.number();
    sample.tid = cells.number();
    sample.cpu = cells.number();
    sample.program = programs.earlier(sample.host, sample.pid, sample.ts);
    sample.event = cells.text();
    sample.weight = cells.number_or_0();
    sample.frames = stacks.frames(cells.number());
    return use(sample);
  });
}

// What was recorded decides; then what the filter leaves of it.
std::string StoreStream::why_not_sampled() {
  for (const trace::LayerState& layer : analysis::layers_of(store_->parts())) {
    if (layer.layer != trace::kSampledLayer) continue;
    if (layer.state == "on" || layer.state == "partial" || layer.events > 0)
      return filter_.any()
                 ? "no sample matches --layers, --pid, --name, --from and --to"
                 : "the program hardly used a CPU; --weight off-cpu shows where it waited";
    if (layer.state == "unavailable" && !layer.reason.empty())
      return "layer cpu was not recorded: " + layer.reason +
             "; 'fathom doctor' says what helps, --weight calls shows recorded calls";
  }
  return "";
}

Status StoreStream::table(const std::function<Status(const Table&)>& use) {
  FATHOM_ASSIGN(const std::string sql, table_sql());
  return store_->stream(sql, use);
}

Status StoreStream::write_parquet(const std::string& path) {
  FATHOM_ASSIGN(const std::string sql, table_sql());
  // Rows of a group, and Bloom filters of all groups, wait in memory until they are written.
  FATHOM_TRY(store_->query("COPY (" + sql + ") TO " + sql::quote_literal(path) +
                           " (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, "
                           "PARQUET_VERSION v2, ROW_GROUP_SIZE 61440, WRITE_BLOOM_FILTER false, "
                           "USE_TMP_FILE false)"));
  return {};
}

Result<std::string> StoreStream::table_sql() const {
  FATHOM_ASSIGN(const analysis::FilteredView view, analysis::find_filtered_view(filter_.table));
  return "SELECT * FROM " + std::string(view.name) + analysis::where_sql(view, filter_);
}

}  // namespace fathom::convert
