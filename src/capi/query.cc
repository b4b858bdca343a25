// SPDX-License-Identifier: MIT
// The functions of <fathom/query.h>. Each is a few lines between two worlds: C's values in, ours
// asked, C's values out, and nothing thrown through.
#include <fathom/query.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "analysis/damage.h"
#include "analysis/filtered_views.h"
#include "analysis/losses.h"
#include "analysis/report.h"
#include "analysis/store.h"
#include "base/text.h"
#include "base/version.h"
#include "capi/far_paths.h"
#include "capi/json.h"
#include "capi/memory_watch.h"
#include "sources/function_names.h"
#include "sql/arrow.h"
#include "sql/cursor.h"

// What a caller's pointer means. Callers may be on any thread and do not know which of their calls
// wait: `mutex` lets one ask at a time, and interrupt() must work without it.
struct fathom_recording {
  std::mutex mutex;  // the store is one thread's at a time
  fathom::analysis::Store store;
  fathom::sql::Interrupter interrupter;
  fathom::capi::NearPaths near;
  int threads;
  fathom::MemoryLimit memory;
  std::mutex parts_mutex;
  std::list<fathom::sql::Interrupter> parts = {};  // of reports on parts that are being made
};

// Rows outlive the recording that they came from, so all that an error needs to be explained is
// here.
struct fathom_rows {
  std::optional<fathom::sql::Cursor> cursor;  // nothing once an Arrow stream has it
  fathom::sql::Interrupter interrupter;
  fathom::MemoryLimit memory;
  fathom::analysis::DamageFinder damage;
};

namespace {

using namespace fathom;

const char* code_name(Code code) {
  switch (code) {
    case Code::kUsage:
      return "usage";
    case Code::kInvalid:
      return "invalid";
    case Code::kNotFound:
      return "not_found";
    case Code::kIo:
      return "io";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kDenied:
      return "denied";
    case Code::kExists:
      return "exists";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kFull:
      return "full";
  }
  return "invalid";
}

// By malloc, as whoever frees it expects. Where there is no memory left for it, NULL.
char* copy_of(const std::string& text) { return strdup(text.c_str()); }

void store_error(fathom_error** place, const Error& error) {
  if (place == nullptr) return;
  auto* made = static_cast<fathom_error*>(std::calloc(1, sizeof(fathom_error)));
  *place = made;
  if (made == nullptr) return;
  // Names in a message come from files of others, and whoever catches it prints it.
  *made = {code_name(error.code), copy_of(escape_control(error.message)),
           copy_of(escape_control(error.hint))};
}

// Runs what gives a Result<T>, and gives T or `failed`.
template <class T, class Work>
T guarded(fathom_error** error, T failed, const Work& work) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    Result<T> outcome = work();
    if (outcome) return std::move(outcome).value();
    store_error(error, outcome.error());
  } catch (const std::bad_alloc&) {
    store_error(error,
                {Code::kIo, "there is not enough memory", "ask for a part of the recording"});
  } catch (const std::exception& thrown) {
    store_error(error, {Code::kIo, thrown.what(), ""});
  } catch (...) {
    store_error(error, {Code::kIo, "unknown failure", ""});
  }
  return failed;
}

// The caller says how large its struct is: those compiled against an older header have fewer
// members, and the rest keeps its defaults.
template <class Options>
Options known_options(const Options* given, const Options& defaults) {
  Options options = defaults;
  if (given != nullptr) std::memcpy(&options, given, std::min(given->size, sizeof options));
  return options;
}

Error missing(const char* what) { return {Code::kUsage, std::string(what) + " is NULL", ""}; }

Result<sql::Parameters> parameters_of(const fathom_value* values, size_t count) {
  sql::Parameters parameters;
  for (size_t i = 0; i < count; ++i) {
    const fathom_value& value = values[i];
    switch (static_cast<fathom_value_kind>(value.kind)) {
      case FATHOM_NULL:
        parameters.emplace_back();
        continue;
      case FATHOM_BOOL:
        parameters.emplace_back(value.integer != 0);
        continue;
      case FATHOM_INTEGER:
        parameters.emplace_back(value.integer);
        continue;
      case FATHOM_REAL:
        parameters.emplace_back(value.real);
        continue;
      case FATHOM_TEXT:
        if (value.text == nullptr) return missing("the text of a parameter");
        parameters.emplace_back(std::string(value.text));
        continue;
    }
    return usage_error("there is no such kind of parameter", "see fathom_value_kind");
  }
  return parameters;
}

Result<analysis::Store> open_store(const capi::NearPaths& near, int threads,
                                   const MemoryLimit& memory) {
  return analysis::Store::open(
      near.paths,
      {.resolver = sources::function_names(), .threads = threads, .memory = memory.of_store()});
}

// Pointers are the caller's and are copied: nothing of them is kept.
Result<analysis::RowFilter> filter_of(const fathom_report_options& given) {
  analysis::RowFilter filter;
  filter.layers = {given.layers, given.layers + given.layer_count};
  filter.names = {given.names, given.names + given.name_count};
  filter.pids = {given.pids, given.pids + given.pid_count};
  if (given.from != nullptr) filter.from_ns = *given.from;
  if (given.to != nullptr) filter.to_ns = *given.to;
  if (given.where != nullptr) filter.condition = given.where;
  FATHOM_TRY(analysis::check_layers(filter.layers));
  return filter;
}

void add_losses(Result<analysis::Report>& report, const analysis::Store& store,
                const analysis::ViewDef& view) {
  const std::string lost = analysis::loss_remark(store.parts(), view.name);
  if (report && !lost.empty()) report->words.push_back(lost);
}

// In a store of its own: the recording's goes on to show the whole run.
Result<analysis::Report> report_of_part(fathom_recording& recording, const analysis::ViewDef& view,
                                        const analysis::ViewOptions& options,
                                        const analysis::RowFilter& filter) {
  FATHOM_ASSIGN(analysis::Store store,
                open_store(recording.near, recording.threads, recording.memory));
  std::list<sql::Interrupter> mine{store.interrupter()};
  const auto place = mine.begin();
  const auto enter = [&] {
    const std::lock_guard lock(recording.parts_mutex);
    recording.parts.splice(recording.parts.end(), mine);
  };
  enter();
  Result<analysis::Report> report = analysis::report_part(store, view, options, filter);
  add_losses(report, store, view);
  const std::lock_guard lock(recording.parts_mutex);
  recording.parts.erase(place);
  return report;
}

Result<analysis::Report> report_of(fathom_recording& recording, const char* view,
                                   const fathom_report_options& given) {
  FATHOM_ASSIGN(const std::vector<analysis::Rule> rules, analysis::rules_for({}));
  FATHOM_ASSIGN(const analysis::RowFilter filter, filter_of(given));
  const analysis::ViewOptions options{.by = {given.by, given.by + given.by_count},
                                      .top = given.top,
                                      .depth = given.depth,
                                      .call = given.call == nullptr ? "" : given.call,
                                      .file = given.file == nullptr ? "" : given.file,
                                      .rules = rules};
  FATHOM_ASSIGN(const analysis::ViewDef* def,
                analysis::choose_view(view == nullptr ? "" : view, options));
  if (filter.any()) return report_of_part(recording, *def, options, filter);
  const std::lock_guard lock(recording.mutex);
  Result<analysis::Report> report = analysis::make_report(*def, recording.store, options);
  add_losses(report, recording.store, *def);
  return report;
}

}  // namespace

extern "C" {

const char* fathom_query_version(void) { return version().data(); }  // a literal

fathom_recording* fathom_recording_open(const char* const* paths, size_t count,
                                        const fathom_open_options* options, fathom_error** error) {
  return guarded<fathom_recording*>(error, nullptr, [&]() -> Result<fathom_recording*> {
    const fathom_open_options known =
        known_options(options, {.size = sizeof known, .threads = 0, .memory = nullptr});
    const std::vector<std::string> names(paths, paths + count);
    FATHOM_ASSIGN(const MemoryLimit memory, capi::memory_limit(known.memory));
    FATHOM_ASSIGN(capi::NearPaths near, capi::bring_near(names));
    FATHOM_ASSIGN(analysis::Store store, open_store(near, known.threads, memory));
    const sql::Interrupter interrupter = store.interrupter();
    return new fathom_recording{
        {}, std::move(store), interrupter, std::move(near), known.threads, memory, {}};
  });
}

void fathom_recording_close(fathom_recording* recording) { delete recording; }

// Takes no lock that a question holds, or it would wait for what it is to end.
void fathom_recording_interrupt(fathom_recording* recording) {
  recording->interrupter.interrupt();
  const std::lock_guard lock(recording->parts_mutex);
  for (const sql::Interrupter& part : recording->parts) part.interrupt();
}

char* fathom_recording_describe(fathom_recording* recording, fathom_error** error) {
  return guarded<char*>(error, nullptr, [&]() -> Result<char*> {
    const std::lock_guard lock(recording->mutex);
    return copy_of(capi::description_json(recording->store));
  });
}

char* fathom_views(fathom_error** error) {
  return guarded<char*>(error, nullptr,
                        []() -> Result<char*> { return copy_of(capi::views_json()); });
}

char* fathom_recording_report(fathom_recording* recording, const char* view,
                              const fathom_report_options* options, fathom_error** error) {
  return guarded<char*>(error, nullptr, [&]() -> Result<char*> {
    const fathom_report_options known = known_options(options, {.size = sizeof known,
                                                                .by = nullptr,
                                                                .by_count = 0,
                                                                .top = -1,
                                                                .depth = -1,
                                                                .layers = nullptr,
                                                                .layer_count = 0,
                                                                .names = nullptr,
                                                                .name_count = 0,
                                                                .pids = nullptr,
                                                                .pid_count = 0,
                                                                .from = nullptr,
                                                                .to = nullptr,
                                                                .where = nullptr,
                                                                .call = nullptr,
                                                                .file = nullptr});
    capi::MemoryWatch watch(recording->memory, [&] { fathom_recording_interrupt(recording); });
    FATHOM_ASSIGN(const analysis::Report report, watch.judged(report_of(*recording, view, known)));
    return copy_of(capi::report_json(report));
  });
}

fathom_rows* fathom_recording_query(fathom_recording* recording, const char* sql,
                                    const fathom_value* parameters, size_t count,
                                    fathom_error** error) {
  return guarded<fathom_rows*>(error, nullptr, [&]() -> Result<fathom_rows*> {
    if (sql == nullptr) return missing("the query");
    FATHOM_ASSIGN(const sql::Parameters values, parameters_of(parameters, count));
    const std::lock_guard lock(recording->mutex);
    capi::MemoryWatch watch(recording->memory, [&] { recording->interrupter.interrupt(); });
    FATHOM_ASSIGN(sql::Cursor cursor, watch.judged(recording->store.ask(sql, values)));
    const sql::Interrupter interrupter = cursor.interrupter();
    return new fathom_rows{std::move(cursor), interrupter, recording->memory,
                           analysis::DamageFinder(recording->store.parts())};
  });
}

char* fathom_rows_columns(fathom_rows* rows, fathom_error** error) {
  return guarded<char*>(error, nullptr, [&]() -> Result<char*> {
    if (!rows->cursor) return usage_error("the rows went into an Arrow stream", "");
    FATHOM_ASSIGN(const std::vector<std::string> columns, rows->cursor->columns());
    return copy_of(capi::columns_json(columns));
  });
}

char* fathom_rows_next(fathom_rows* rows, fathom_error** error) {
  return guarded<char*>(error, nullptr, [&]() -> Result<char*> {
    if (!rows->cursor) return usage_error("the rows went into an Arrow stream", "");
    capi::MemoryWatch watch(rows->memory, [&] { rows->interrupter.interrupt(); });
    Result<Table> taken = watch.judged(rows->cursor->next());
    if (!taken) return rows->damage.explained(std::move(taken).error());
    const Table& part = *taken;
    return part.rows.empty() ? nullptr : copy_of(capi::rows_json(part));
  });
}

int fathom_rows_arrow(fathom_rows* rows, struct ArrowArrayStream* out, fathom_error** error) {
  return guarded<int>(error, 1, [&]() -> Result<int> {
    if (!rows->cursor) return usage_error("the rows went into an Arrow stream", "");
    sql::Cursor::into_arrow(std::move(*rows->cursor), *out);
    rows->cursor.reset();
    return 0;
  });
}

void fathom_rows_interrupt(fathom_rows* rows) { rows->interrupter.interrupt(); }
void fathom_rows_close(fathom_rows* rows) { delete rows; }

void fathom_text_free(char* text) { std::free(text); }

void fathom_error_free(fathom_error* error) {
  if (error == nullptr) return;
  std::free(error->message);
  std::free(error->hint);
  std::free(error);
}

}  // extern "C"
