// SPDX-License-Identifier: MIT
// Firefox draws sums of changes, so values become differences here. Columns are spilled because all
// series are open until the last row.
#include "render/export/firefox_counters.h"

#include <cmath>

#include "render/export/json_fields.h"

namespace fathom::render {

Status FirefoxCounters::add(const ExportCounter& counter) {
  if (!std::isfinite(counter.value)) return {};
  Series& series = series_[{std::string(counter.host), counter.pid.value_or(kNoProcess),
                            std::string(counter.name)}];
  if (series.times.size() == 0) {
    series.unit = counter.unit;
    series.layer = counter.layer;
  }
  append_ms(series.times.item(), counter.ts);
  append_real(series.changes.item(), counter.value - series.last);
  series.last = counter.value;
  FATHOM_TRY(series.times.spill_if_large());
  return series.changes.spill_if_large();
}

std::set<FirefoxCounters::Owner> FirefoxCounters::owners() const {
  std::set<Owner> owners;
  for (const auto& [key, series] : series_) owners.emplace(std::get<0>(key), std::get<1>(key));
  return owners;
}

// Firefox's page draws category Memory as the sum of all changes so far, which is our value.
Status FirefoxCounters::write(SinkBuffer& out, const std::string& name, Series& series,
                              const Place& place) {
  JsonFields fields(out.text() += '{');
  fields.text("name", name);
  fields.text("category", series.unit == "bytes" ? "Memory" : series.layer);
  fields.text("description", series.unit);
  fields.text("pid", std::to_string(place.pid));
  fields.number("mainThreadIndex", static_cast<std::int64_t>(place.thread));
  const auto length = static_cast<std::int64_t>(series.times.size());
  fields.key("sampleGroups") += R"([{"id":0,"samples":{"time":)";
  FATHOM_TRY(series.times.move_to(out));
  out.text() += R"(,"count":)";
  FATHOM_TRY(series.changes.move_to(out));
  out.text() += R"(,"length":)";
  append_number(out.text(), length);
  out.text() += "}}]}";
  return out.flush_if_large();
}

Status FirefoxCounters::move_to(SinkBuffer& out, const std::map<Owner, Place>& places) {
  bool first = true;
  for (auto& [key, series] : series_) {
    out.text() += first ? "\n" : ",\n";
    first = false;
    const auto& [host, pid, name] = key;
    FATHOM_TRY(write(out, name, series, places.at({host, pid})));
  }
  series_.clear();
  return {};
}

}  // namespace fathom::render
