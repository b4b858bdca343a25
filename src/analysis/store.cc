// SPDX-License-Identifier: MIT
// Opens recordings, makes the views and then locks the database down: from there on strangers' SQL
// can reach only the recording's own files.
#include "analysis/store.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "analysis/contract.h"
#include "analysis/damage.h"
#include "analysis/facts.h"
#include "analysis/far_rows.h"
#include "analysis/named_tables.h"
#include "analysis/report.h"
#include "analysis/report_views.h"
#include "analysis/source_names.h"
#include "analysis/store_views.h"
#include "analysis/walk/made_tables.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/memory.h"
#include "sql/database.h"
#include "sql/parquet_writer.h"
#include "sql/quote.h"

namespace fathom::analysis {

class Store::State {
 public:
  State(sql::Connection connection, std::vector<trace::Part> parts)
      : connection_(std::move(connection)), parts_(std::move(parts)), shifts_(shifts_of(parts_)) {
    for (const trace::Part& part : parts_) {
      if (std::shared_ptr<FarRows> far = far_rows_of(part.directory)) far_.insert(std::move(far));
    }
  }

  Status build(trace::Need need, const std::string& output) {
    FATHOM_TRY(make_views(connection_, parts_, shifts_, {.need = need, .bring_all = [this] {
                                                           return bring(recorded_tables());
                                                         }}));
    std::vector<std::string> directories;
    std::vector<std::string> sources;
    if (!output.empty()) {
      FATHOM_ASSIGN(const std::string absolute, absolute_path(output));
      directories.push_back(absolute + "/");
    }
    for (trace::Part& part : parts_) {
      packed_ = packed_ && part.tail == nullptr;
      part.tail.reset();
      for (const auto& [table, files] : part.files) {
        for (const trace::DataFile& file : files) {
          sources.push_back(file.source);
          if (file.held) connection_.keep(file.held);
        }
      }
    }
    return connection_.lock_down(directories, sources);
  }

  Result<std::int64_t> wall_ns() {
    if (const auto known = known_wall_ns(parts_, shifts_)) return *known;
    constexpr char kWall[] = "SELECT wall FROM totals";
    FATHOM_TRY(bring_rows_for(kWall));
    FATHOM_ASSIGN(const Table rows, named(connection_.query(kWall)));
    const auto* wall = std::get_if<std::int64_t>(&rows.rows[0][0].data);
    return wall == nullptr ? 0 : *wall;
  }

  // An answer whose failure tells of damage, and calls files by their paths.
  template <class T>
  Result<T> named(Result<T> answer) const {
    if (answer) return answer;
    return with_paths(DamageFinder(parts_).explained(std::move(answer).error()), parts_);
  }

  // Has all rows brought here that the statement may read.
  Status bring_rows_for(const std::string& sql) {
    if (far_.empty() || brought_ == recorded_tables()) return {};
    FATHOM_ASSIGN(const std::set<std::string> tables, named_.of(connection_, sql));
    return bring(tables);
  }

  // Makes what the statement names, and has its rows brought here.
  Status prepare(const std::string& sql) {
    FATHOM_TRY(named(views_.make_for(connection_, sql)));
    return bring_rows_for(sql);
  }

  // Asks; and once more with every view there where a name is not known, which the statement may
  // have put together, and for which the database suggests others. No row came before that error.
  template <class Ask>
  auto answer(const std::string& sql, Ask ask) -> decltype(ask()) {
    FATHOM_TRY(prepare(sql));
    auto answer = ask();
    if (!answer && !views_.has_all() && answer.error().message.starts_with("Catalog Error")) {
      FATHOM_TRY(named(views_.make_all(connection_)));
      FATHOM_TRY(bring_rows_for(sql));
      answer = ask();
    }
    return named(std::move(answer));
  }

  // So that nothing is made later in place of what is put there now.
  Status make_room(const std::string& name) {
    FATHOM_TRY(named(views_.make_first(connection_)));
    return connection_.execute("DROP VIEW IF EXISTS " + sql::quote_identifier(name));
  }

  sql::Connection& connection() { return connection_; }
  [[nodiscard]] const std::vector<trace::Part>& parts() const { return parts_; }
  [[nodiscard]] bool packed() const { return packed_ && far_.empty(); }
  std::vector<Make>& made() { return made_; }

 private:
  static std::set<std::string> recorded_tables() {
    std::set<std::string> tables;
    for (const ViewSpec& view : recorded_views()) tables.emplace(view.name);
    return tables;
  }

  Status bring(const std::set<std::string>& tables) {
    if (std::ranges::includes(brought_, tables)) return {};
    for (const std::shared_ptr<FarRows>& far : far_) FATHOM_TRY(far->bring(tables));
    brought_.insert(tables.begin(), tables.end());
    return {};
  }

  sql::Connection connection_;
  std::vector<trace::Part> parts_;
  std::vector<std::int64_t> shifts_;
  bool packed_ = true;
  ReportViews views_;
  std::vector<Make> made_;
  std::set<std::shared_ptr<FarRows>> far_;
  NamedTables named_;
  std::set<std::string> brought_;  // tables whose rows are all here
};

namespace {

Result<std::vector<trace::Part>> open_parts(std::span<const std::string> paths,
                                            const StoreOptions& options) {
  std::vector<trace::Part> parts;
  for (const std::string& path : paths) {
    FATHOM_ASSIGN(std::string directory, absolute_path(path));
    FATHOM_ASSIGN(
        trace::Recording recording,
        trace::Recording::open(
            directory, {.resolver = options.resolver, .paths = {}, .directory = {}, .local = true},
            options.need));
    std::ranges::move(recording.parts, std::back_inserter(parts));
  }
  if (parts.empty()) return Error{Code::kNotFound, "no recording was named", ""};
  return parts;
}

// Without a limit a question may take half of what there is.
std::string memory_of(const StoreOptions& options) {
  return options.memory.empty() ? std::to_string(usable_memory() / 2) + "B" : options.memory;
}

// What does not fit into memory goes there.
std::string own_spill_directory() {
  return join_path(scratch_directory(), "fathom-" + random_id());
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(std::span<const std::string> paths, const StoreOptions& options) {
  FATHOM_ASSIGN(std::vector<trace::Part> parts, open_parts(paths, options));
  FATHOM_ASSIGN(const sql::Database database,
                sql::Database::open_memory({.threads = options.threads,
                                            .memory_limit = memory_of(options),
                                            .any_order = !options.output.empty(),
                                            .temp_directory = own_spill_directory()}));
  FATHOM_ASSIGN(sql::Connection connection, sql::Connection::open(database));
  if (options.remembers_files)
    FATHOM_TRY(connection.execute("SET GLOBAL parquet_metadata_cache = true"));
  auto state = std::make_unique<State>(std::move(connection), std::move(parts));
  FATHOM_TRY(state->named(state->build(options.need, options.output)));
  return Store(std::move(state));
}

Result<Store> Store::of_sums(trace::Part part) {
  FATHOM_ASSIGN(const sql::Database database, sql::Database::open_memory({.threads = 1}));
  FATHOM_ASSIGN(sql::Connection connection, sql::Connection::open(database));
  std::vector<trace::Part> parts;
  parts.push_back(std::move(part));
  auto state = std::make_unique<State>(std::move(connection), std::move(parts));
  FATHOM_TRY(state->build(trace::Need::kSums, ""));
  return Store(std::move(state));
}

Result<Store> Store::open(const std::string& path, const StoreOptions& options) {
  return open(std::span(&path, 1), options);
}

Result<Table> Store::query_sums(const std::string& sql) {
  FATHOM_TRY(state_->bring_rows_for(sql));
  return state_->named(state_->connection().query(sql));
}

Result<Table> Store::query(const std::string& sql, const sql::Parameters& parameters) {
  return state_->answer(sql, [&] { return state_->connection().query(sql, parameters); });
}

Status Store::stream(const std::string& sql, const sql::OnRows& on_rows,
                     const sql::Parameters& parameters) {
  return state_->answer(sql, [&] { return state_->connection().stream(sql, on_rows, parameters); });
}

Status Store::stream_chunks(const std::string& sql, const sql::OnChunk& on_chunk) {
  return state_->answer(sql, [&] { return state_->connection().stream_chunks(sql, on_chunk); });
}

Status Store::ensure(Make make) {
  if (std::ranges::find(state_->made(), make) != state_->made().end()) return {};
  FATHOM_TRY(make(*this));
  state_->made().push_back(make);
  return {};
}

bool Store::has_made() const { return !state_->made().empty(); }

Status Store::put_table(const std::string& name, const sql::Batch& rows) {
  FATHOM_TRY(state_->make_room(name));
  return sql::register_table(state_->connection(), name, rows);
}

namespace {

// Names the view, or a table that is made for it.
bool needs_made(const ViewDef& view, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    if (name == name_in_sql(&view)) return true;
    if (!is_made_table(name)) return false;
    const std::vector<std::string> words = words_of_sql(view.sql());
    return std::ranges::find(words, name) != words.end();
  });
}

}  // namespace

Status Store::make_what_is_named(const std::string& sql) {
  FATHOM_TRY(state_->prepare(sql));
  const std::vector<std::string> names = state_->connection().table_names(sql);
  for (const ViewDef* view : views()) {
    if (view->make != nullptr && needs_made(*view, names)) FATHOM_TRY(ensure(view->make));
  }
  return {};
}

Result<Table> Store::query_untrusted(const std::string& sql, const sql::Parameters& parameters) {
  FATHOM_TRY(make_what_is_named(sql));
  return state_->answer(sql, [&] { return state_->connection().query_untrusted(sql, parameters); });
}

Status Store::stream_untrusted(const std::string& sql, const sql::OnRows& on_rows,
                               const sql::Parameters& parameters) {
  FATHOM_TRY(make_what_is_named(sql));
  return state_->answer(
      sql, [&] { return state_->connection().stream_untrusted(sql, on_rows, parameters); });
}

Result<sql::Cursor> Store::ask(const std::string& sql, const sql::Parameters& parameters) {
  FATHOM_TRY(make_what_is_named(sql));
  return state_->answer(sql, [&]() -> Result<sql::Cursor> {
    FATHOM_ASSIGN(sql::Connection connection, state_->connection().another());
    return sql::Cursor::open(std::move(connection), sql, parameters);
  });
}

sql::Interrupter Store::interrupter() const { return state_->connection().interrupter(); }

const std::vector<trace::Part>& Store::parts() const { return state_->parts(); }
bool Store::packed() const { return state_->packed(); }
trace::RunState Store::state() const { return state_of(state_->parts()); }
Result<std::int64_t> Store::wall_ns() { return state_->wall_ns(); }

}  // namespace fathom::analysis
