// SPDX-License-Identifier: MIT
// A recording as a file of another tool's, as `fathom export` writes it: into a temporary
// directory, from where it is sent at the client's pace. The name is gone by then.
#include <fcntl.h>

#include <memory>
#include <utility>

#include "analysis/shown_rows.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/scratch.h"
#include "convert/export.h"
#include "render/export/exporter.h"
#include "serve/page/export_route.h"
#include "serve/page/page_file.h"
#include "serve/recordings/question_end.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

struct FileKind {
  std::string_view format;
  std::string_view ending;
  std::string_view type;
};

// What is not here is bytes, with the format as the ending.
constexpr FileKind kKinds[] = {
    {"perfetto", "pftrace", "application/octet-stream"},
    {"chrome", "json", "application/json"},
    {"speedscope", "speedscope.json", "application/json"},
    {"csv", "csv", "text/csv; charset=utf-8"},
    {"parquet", "parquet", "application/octet-stream"},
    {"collapsed", "txt", "text/plain; charset=utf-8"},
    {"flamegraph", "svg", "application/octet-stream"},  // is saved, never shown with our rights
    {"html", "html", "application/octet-stream"},
};

FileKind kind_of(std::string_view format) {
  for (const FileKind& kind : kKinds) {
    if (kind.format == format) return kind;
  }
  return {format, format, "application/octet-stream"};
}

// Letters that no header and no file system minds.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, 64)) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
    plain += is_plain ? c : '_';
  }
  return plain.empty() || plain[0] == '.' ? "recording" : plain;
}

struct Wanted {
  const render::ExporterDef* exporter = nullptr;
  analysis::RowFilter filter;
  render::StackChoice choice;
  KnownRecording recording;
};

Result<Wanted> read_wish(const Request& request, OpenRecordings& recordings) {
  Wanted wanted;
  FATHOM_ASSIGN(wanted.exporter,
                render::find_exporter(request.asked("format"), request.asked("dialect")));
  if (!wanted.exporter->parts.empty())
    return Error{Code::kInvalid, "this format is a directory of files", "use fathom export"};
  FATHOM_ASSIGN(wanted.filter, selection_of(request));
  if (const std::string table = request.asked("table"); !table.empty()) {
    if (!wanted.exporter->of_table)
      return Error{Code::kInvalid, "this format does not write a single table", "leave table out"};
    FATHOM_TRY(analysis::find_filtered_view(table));
    if (table != "events" && !wanted.filter.condition.empty())
      return Error{Code::kInvalid, "a condition selects events", "leave out table or where"};
    wanted.filter.table = table;
  }
  if (const std::string weight = request.asked("weight"); !weight.empty()) {
    if (wanted.exporter->write_stacks == nullptr)
      return Error{Code::kInvalid, "this format has no weight", "leave it out"};
    FATHOM_ASSIGN(wanted.choice.weight, render::parse_weight(weight));
  }
  FATHOM_ASSIGN(wanted.recording, recordings.places().find(request.asked("recording")));
  return wanted;
}

// The file is open and has no name any more when the answer begins: nothing is left where a client
// goes away.
Result<Response> sent(const std::string& path, const Wanted& wanted) {
  FATHOM_ASSIGN(File file, File::open(path, O_RDONLY | O_NOFOLLOW));
  const FileKind kind = kind_of(wanted.exporter->name);
  Response response;
  response.type = kind.type;
  response.headers.push_back({"Content-Disposition", "attachment; filename=\"" +
                                                         plain_name(wanted.recording.name) + "." +
                                                         std::string(kind.ending) + "\""});
  FATHOM_ASSIGN(response.body.length, file.size());
  response.body.file = std::make_shared<const File>(std::move(file));
  return response;
}

// Its questions are its own; the lease is its turn among those of others.
Status write_page(const Request& request, const Wanted& wanted, const RecordingLease& turn,
                  OpenRecordings& recordings, const std::string& path) {
  KnownRecording recording = turn.recording();
  recording.part = wanted.filter;
  FATHOM_ASSIGN(render::ByteSink sink, render::ByteSink::open(path, /*gzip=*/false));
  FATHOM_TRY(write_page_file({.recording = std::move(recording),
                              .names = recordings.names(),
                              .limits = recordings.limits(),
                              .gone = request.gone},
                             sink));
  return sink.finish();
}

Status write_other(const Wanted& wanted, const RecordingLease& lease, const std::string& path) {
  convert::Export work(lease.store(), *wanted.exporter);
  work.choose(wanted.choice);
  return work.write(path, wanted.filter);
}

// Everything that can be wrong with the wish is said before a turn is taken: an export may use one
// for minutes.
Response export_file(const Request& request, OpenRecordings& recordings) {
  Result<Wanted> wanted = read_wish(request, recordings);
  if (!wanted) return refusal(wanted.error());
  const Result<ScratchDirectory> room =
      ScratchDirectory::make(join_path(scratch_directory(), "fathom-export-" + random_id()));
  if (!room) return refusal(room.error());
  const Result<RecordingLease> lease =
      recordings.lease_to_write(request, wanted->recording, room->path());
  if (!lease) return refused_lease(lease.error());
  if (const Status judged = analysis::judge_condition(lease->store(), wanted->filter.condition);
      !judged)
    return lease->refused(judged.error());
  const std::string path = join_path(room->path(), "file");
  const Status written = wanted->exporter->is_page
                             ? write_page(request, *wanted, *lease, recordings, path)
                             : write_other(*wanted, *lease, path);
  if (!written) return lease->refused(written.error());
  Result<Response> response = sent(path, *wanted);
  return response ? std::move(*response) : refusal(response.error());
}

}  // namespace

void add_export_route(Router& router, OpenRecordings& recordings) {
  router.add({"GET",
              "/api/v1/export",
              Role::kRead,
              [&recordings](Request& r) { return export_file(r, recordings); },
              {},
              parameters("format dialect table weight key", kSelection)});
}

}  // namespace fathom::serve
