// SPDX-License-Identifier: MIT
#include "cli/store_stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sql/quote.h"

namespace fathom::cli {
namespace {

using Row = std::vector<Value>;

// Cells of a row, one after the other, in the order of the SELECT.
class Cells {
 public:
  explicit Cells(const Row& row) : next_(row.data()) {}

  render::ExportNumber number() {
    const auto* const value = std::get_if<std::int64_t>(&(next_++)->data);
    return value == nullptr ? render::ExportNumber() : *value;
  }
  std::string_view text() {
    const auto* const value = std::get_if<std::string>(&(next_++)->data);
    return value == nullptr ? std::string_view() : *value;
  }
  double real() {
    const auto* const value = std::get_if<double>(&(next_++)->data);
    return value == nullptr ? 0 : *value;
  }
  void map(std::vector<render::ExportArg>& into) {
    into.clear();
    const auto* const object = std::get_if<Object>(&(next_++)->data);
    if (object == nullptr) return;
    for (const auto& [key, value] : *object) {
      const auto* const text = std::get_if<std::string>(&value.data);
      if (text != nullptr) into.emplace_back(key, *text);
    }
  }

 private:
  const Value* next_;
};

template <class Use>
Status each_row(analysis::Store& store, const std::string& sql, Use use) {
  return store.stream(sql, [&](const Table& rows) -> Status {
    for (const Row& row : rows.rows) FATHOM_TRY(use(Cells(row)));
    return {};
  });
}

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

std::string StoreStream::where(bool with_layers, const std::string& begin,
                               const std::string& end) const {
  std::string sql = " WHERE true";
  if (with_layers && !filter_.layers.empty()) {
    sql += " AND layer IN (";
    for (const std::string& layer : filter_.layers) sql += sql::quote_literal(layer) + ", ";
    sql += "NULL)";
  }
  if (!filter_.pids.empty()) {
    sql += " AND pid IN (";
    for (const std::int64_t pid : filter_.pids) sql += std::to_string(pid) + ", ";
    sql += "NULL)";
  }
  if (filter_.from_ns && !end.empty())
    sql += " AND " + end + " >= " + std::to_string(*filter_.from_ns);
  if (filter_.to_ns && !begin.empty())
    sql += " AND " + begin + " < " + std::to_string(*filter_.to_ns);
  return sql;
}

Status StoreStream::processes(const std::function<Status(const render::ExportProcess&)>& use) {
  const std::string sql = "SELECT host, pid, ppid, rank, name, command FROM processes" +
                          where(false, "", "") + " AND pid IS NOT NULL ORDER BY host, pid, start";
  return each_row(*store_, sql, [&](Cells cells) {
    render::ExportProcess process;
    process.host = cells.text();
    process.pid = cells.number().value_or(0);
    process.ppid = cells.number();
    process.rank = cells.number();
    process.name = cells.text();
    process.command = cells.text();
    return use(process);
  });
}

Status StoreStream::threads(const std::function<Status(const render::ExportThread&)>& use) {
  const std::string sql = "SELECT host, pid, tid, name FROM threads" + where(false, "", "") +
                          " AND pid IS NOT NULL AND tid IS NOT NULL ORDER BY host, pid, tid";
  return each_row(*store_, sql, [&](Cells cells) {
    render::ExportThread thread;
    thread.host = cells.text();
    thread.pid = cells.number().value_or(0);
    thread.tid = cells.number().value_or(0);
    thread.name = cells.text();
    return use(thread);
  });
}

Status StoreStream::events(render::EventOrder order,
                           const std::function<Status(const render::ExportEvent&)>& use) {
  std::string sql =
      "SELECT ts, dur, host, pid, tid, depth, fd, \"offset\", size, bytes, ret, layer, name, "
      "entry, category, file, error, "
      "args FROM events" +
      where(true, "ts", "ts + dur");
  if (order == render::EventOrder::kByThread)
    sql += " ORDER BY host, pid, tid, ts, dur DESC, depth";
  std::vector<render::ExportArg> args;
  return each_row(*store_, sql, [&](Cells cells) {
    render::ExportEvent event;
    event.ts = cells.number().value_or(0);
    event.dur = cells.number().value_or(0);
    event.host = cells.text();
    for (render::ExportNumber* number : {&event.pid, &event.tid, &event.depth, &event.fd,
                                         &event.offset, &event.size, &event.bytes, &event.ret}) {
      *number = cells.number();
    }
    for (std::string_view* text :
         {&event.layer, &event.name, &event.entry, &event.category, &event.file, &event.error}) {
      *text = cells.text();
    }
    cells.map(args);
    event.args = args;
    return use(event);
  });
}

Status StoreStream::counters(const std::function<Status(const render::ExportCounter&)>& use) {
  const std::string sql =
      "SELECT ts, host, pid, tid, layer, name, unit, value FROM counters" + where(true, "ts", "ts");
  return each_row(*store_, sql, [&](Cells cells) {
    render::ExportCounter counter;
    counter.ts = cells.number().value_or(0);
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

}  // namespace fathom::cli
