// SPDX-License-Identifier: MIT
// The exporter for `fathom export`; the lines themselves are made by alnair_log.cc, which the live
// logs use as well.
#include <string>

#include "render/export/alnair_log.h"
#include "render/export/exporter.h"

namespace fathom::render {
namespace {

Status write_metrics(EventStream& from, ByteSink& to) {
  AlnairMetrics metrics;
  FATHOM_TRY(from.events(EventOrder::kAny, [&](const ExportEvent& event) -> Status {
    metrics.add(event);
    return {};
  }));
  return to.write(metrics.text());
}

Status write_timeline(EventStream& from, ByteSink& to) {
  SinkBuffer buffer(to);
  const std::int64_t start = from.start_realtime_ns();
  FATHOM_TRY(from.events(EventOrder::kByThread, [&](const ExportEvent& event) -> Status {
    append_alnair_line(event, start, buffer.text());
    return buffer.flush_if_large();
  }));
  return buffer.flush();
}

constexpr ExporterPart kParts[] = {{kAlnairMetrics, write_metrics},
                                   {kAlnairTimeline, write_timeline}};

}  // namespace

extern const ExporterDef kAlnairExporter;
const ExporterDef kAlnairExporter = {
    .name = "alnair",
    .summary =
        "a directory with metrics.log and timeline.log, as Alnair's CUDA interposer writes them",
    .parts = kParts,
    .layer = "cuda",
};

}  // namespace fathom::render
