// SPDX-License-Identifier: MIT
// Writes one document with the page and one recording, for `fathom export --format html`.
// serve/page/page_file.h decides what is in it; a build without the fleet has none.
#include "cli/page_export.h"

#include <limits>
#include <utility>

#include "analysis/info.h"
#include "base/files.h"
#include "cli/named_trace.h"
#include "cli/question_guard.h"
#include "serve/page/page_file.h"
#include "sources/function_names.h"

namespace fathom::cli {
namespace {

// What `fathom view` would call it.
std::string name_of(const std::string& word, const std::string& path) {
  const Result<std::string> whole = absolute_path(path);
  const std::string name(base_name(whole ? *whole : path));
  return name.empty() || name == "/" ? word : name;
}

}  // namespace

Status export_page(const std::string& trace, analysis::RowFilter filter,
                   const std::string& output) {
  guard_questions({.work = "the page"});
  FATHOM_ASSIGN(const std::string path, find_trace(trace));
  FATHOM_TRY(analysis::read_info(path, sources::function_names()));
  const std::string name = name_of(trace, path);
  serve::InsideWish wish{.recording = {name, name, path, std::move(filter)},
                         .names = sources::function_names()};
  wish.limits.timeout_ns = std::numeric_limits<std::int64_t>::max() / 4;  // Ctrl-C ends it
  FATHOM_ASSIGN(render::ByteSink sink, render::ByteSink::open(output, /*gzip=*/false));
  FATHOM_TRY(serve::write_page_file(wish, sink));
  return sink.finish();
}

}  // namespace fathom::cli
