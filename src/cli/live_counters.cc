// SPDX-License-Identifier: MIT
// Appends DataCrumbs' lines while the daemon records, for tools that follow the file.
#include "cli/live_counters.h"

#include <fcntl.h>

#include "base/host.h"
#include "render/export/counter_line.h"

namespace fathom::cli {

Result<LiveCounters> LiveCounters::open(const std::string& path) {
  FATHOM_ASSIGN(File file, File::open(path, O_WRONLY | O_CREAT | O_APPEND));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  if (size == 0) FATHOM_TRY(file.write_all(render::kCounterHead));
  return LiveCounters(std::move(file), this_host().hostname);
}

Status LiveCounters::add(const trace::HostRows& rows, const trace::Strings& strings,
                         std::int64_t start_ns) {
  std::string lines;
  for (const trace::IntervalRow& row : rows.intervals.rows) {
    render::ExportInterval line;
    line.ts = row.ts + start_ns;
    line.width = row.width;
    line.host = host_;
    line.pid = row.pid;
    line.tid = row.tid;
    line.layer = strings.view(row.layer);
    line.name = strings.view(row.name);
    line.file = strings.view(row.file);
    line.category = strings.view(row.category);
    line.calls = row.calls;
    line.dur = row.dur;
    if (row.bytes != trace::kNull) line.bytes = row.bytes;
    render::append_counter_line(lines, line);
  }
  return file_.write_all(lines);
}

}  // namespace fathom::cli
