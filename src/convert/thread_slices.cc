// SPDX-License-Identifier: MIT
// Plans queries so that each sorts at most half a million events. Exporters want events by thread
// and time, and sorting a whole recording would spill to disk.
#include "convert/thread_slices.h"

#include <algorithm>
#include <vector>

#include "base/heap.h"
#include "convert/row_cells.h"
#include "sql/quote.h"

namespace fathom::convert {
namespace {

constexpr std::int64_t kMostRows = 500'000;
constexpr std::int64_t kBins = 4096;
// What may lie idle between two slices: without a bound it was seen to grow with their number.
constexpr std::size_t kIdleHeap = std::size_t{64} << 20U;

struct Thread {
  std::string host;
  bool has_host = false;
  render::ExportNumber pid, tid;
  std::int64_t rows = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] bool plain() const { return has_host && pid && tid; }
};

Result<std::vector<Thread>> threads_of(analysis::Store& store, const std::string& where) {
  std::vector<Thread> threads;
  FATHOM_TRY(each_row(store,
                      "SELECT host, CAST(pid AS BIGINT), "
                      "CAST(tid AS BIGINT), count(*), min(ts), max(ts) FROM events" +
                          where +
                          " GROUP BY host, pid, tid ORDER BY host NULLS FIRST, pid NULLS FIRST, "
                          "tid NULLS FIRST",
                      [&](RowCells cells) -> Status {
                        Thread thread;
                        const std::string_view host = cells.text();
                        thread.host = host;
                        thread.has_host = host.data() != nullptr;
                        thread.pid = cells.number();
                        thread.tid = cells.number();
                        thread.rows = cells.number_or_0();
                        thread.first = cells.number_or_0();
                        thread.last = cells.number_or_0();
                        threads.push_back(std::move(thread));
                        return {};
                      }));
  return threads;
}

std::string text_of(const render::ExportNumber& number) {
  return number ? std::to_string(*number) : "NULL";
}

// One thread, with whatever it lacks.
std::string just(const Thread& thread) {
  return " AND host IS NOT DISTINCT FROM " +
         (thread.has_host ? sql::quote_literal(thread.host) : std::string("NULL")) +
         " AND pid IS NOT DISTINCT FROM " + text_of(thread.pid) + " AND tid IS NOT DISTINCT FROM " +
         text_of(thread.tid);
}

// From one thread to another of the same host. The plain bounds of pid are what row groups can be
// told by.
std::string from_to(const Thread& first, const Thread& last) {
  const std::string p1 = text_of(first.pid);
  const std::string p2 = text_of(last.pid);
  return " AND host = " + sql::quote_literal(first.host) + " AND pid BETWEEN " + p1 + " AND " + p2 +
         " AND (pid > " + p1 + " OR tid >= " + text_of(first.tid) + ") AND (pid < " + p2 +
         " OR tid <= " + text_of(last.tid) + ")";
}

// The same for threads of several hosts, or without a number: a query for each of many would take
// longer than their rows.
std::string from_to_anywhere(const Thread& first, const Thread& last) {
  const auto bound = [](const Thread& thread, const std::string& beyond) {
    const std::string host = sql::quote_literal(thread.host);
    const std::string pid = std::to_string(thread.pid.value_or(-1));
    const std::string tid = std::to_string(thread.tid.value_or(-1));
    return " AND (coalesce(host, '') " + beyond + host + " OR (coalesce(host, '') = " + host +
           " AND (coalesce(pid, -1) " + beyond + pid + " OR (coalesce(pid, -1) = " + pid +
           " AND coalesce(tid, -1) " + beyond + "= " + tid + "))))";
  };
  return std::string(" AND host IS ") + (first.has_host ? "NOT NULL" : "NULL") + bound(first, ">") +
         bound(last, "<");
}

// A thread of its own, cut by time where it is long.
Status cut(analysis::Store& store, const std::string& where, const Thread& thread,
           std::int64_t most_rows, const std::function<Status(const std::string&)>& use) {
  const std::string who = where + just(thread);
  if (thread.rows <= most_rows) return use(who);
  const std::int64_t width = std::max<std::int64_t>((thread.last - thread.first) / kBins, 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> bins;  // number, rows
  FATHOM_TRY(each_row(store,
                      "SELECT (ts - " + std::to_string(thread.first) + ") // " +
                          std::to_string(width) + " AS bin, count(*) FROM events" + who +
                          " GROUP BY bin ORDER BY bin",
                      [&](RowCells cells) -> Status {
                        const std::int64_t bin = cells.number_or_0();
                        bins.emplace_back(bin, cells.number_or_0());
                        return {};
                      }));
  std::int64_t from = thread.first;
  std::int64_t rows = 0;
  for (const auto& [bin, count] : bins) {
    const std::int64_t begin = thread.first + bin * width;
    if (rows > 0 && rows + count > most_rows) {
      FATHOM_TRY(
          use(who + " AND ts >= " + std::to_string(from) + " AND ts < " + std::to_string(begin)));
      from = begin;
      rows = 0;
    }
    rows += count;
  }
  return use(who + " AND ts >= " + std::to_string(from));
}

}  // namespace

Status each_slice(analysis::Store& store, const std::string& where,
                  const std::function<Status(const std::string& condition)>& use) {
  return each_slice(store, where, kMostRows, [&](const std::string& condition) {
    Status used = use(condition);
    trim_heap(kIdleHeap);
    return used;
  });
}

Status each_slice(analysis::Store& store, const std::string& where, std::int64_t most_rows,
                  const std::function<Status(const std::string& condition)>& use) {
  FATHOM_ASSIGN(const std::vector<Thread> threads, threads_of(store, where));
  for (std::size_t at = 0; at < threads.size();) {
    const Thread& first = threads[at];
    std::size_t end = at + 1;
    std::int64_t rows = first.rows;
    bool near = first.plain();
    while (end < threads.size() && threads[end].has_host == first.has_host &&
           rows + threads[end].rows <= most_rows) {
      near = near && threads[end].plain() && threads[end].host == first.host;
      rows += threads[end++].rows;
    }
    const Thread& last = threads[end - 1];
    if (end == at + 1) {
      FATHOM_TRY(cut(store, where, first, most_rows, use));
    } else {
      FATHOM_TRY(use(where + (near ? from_to(first, last) : from_to_anywhere(first, last))));
    }
    at = end;
  }
  return {};
}

}  // namespace fathom::convert
