// SPDX-License-Identifier: MIT
// Looks programs up by time in the rows of `processes`, so that rows of every table are treated
// alike, and recordings whose events do not name their program, too.
#include "convert/programs.h"

#include <algorithm>
#include <utility>

#include "convert/row_cells.h"

namespace fathom::convert {

Status Programs::load(analysis::Store& store, const std::string& where) {
  const std::string several =
      " WINDOW one AS (PARTITION BY host, pid) QUALIFY min(name) OVER one <> max(name) OVER one "
      "ORDER BY host, pid, start";
  return each_row(store,
                  "SELECT host, pid, start, name FROM processes" + where +
                      " AND pid IS NOT NULL AND start IS NOT NULL" + several,
                  [&](RowCells cells) -> Status {
                    std::string host(cells.text());
                    const std::int64_t pid = cells.number_or_0();
                    const std::int64_t start = cells.number_or_0();
                    hosts_[std::move(host)][pid].push_back({start, std::string(cells.text())});
                    return {};
                  });
}

const Programs::Images* Programs::images_of(std::string_view host, std::int64_t pid) const {
  const auto processes = hosts_.find(host);
  if (processes == hosts_.end()) return nullptr;
  const auto found = processes->second.find(pid);
  return found == processes->second.end() ? nullptr : &found->second;
}

std::string_view Programs::earlier(std::string_view host, const render::ExportNumber& pid,
                                   std::int64_t ts) {
  if (hosts_.empty() || !pid) return {};
  if (pid != pid_ || host != host_) {
    host_ = host;
    pid_ = pid;
    images_ = images_of(host, *pid);
  }
  if (images_ == nullptr) return {};
  const auto next = std::ranges::upper_bound(*images_, ts, {}, &Image::start);
  const Image& image = next == images_->begin() ? images_->front() : *std::prev(next);
  return image.name == images_->back().name ? std::string_view() : std::string_view(image.name);
}

}  // namespace fathom::convert
