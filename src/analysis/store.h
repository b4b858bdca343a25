// SPDX-License-Identifier: MIT
// Recordings opened for questions: an in-memory database with the views of the SQL contract
// (contract.h, and files, layers, losses, run). Opening reads no rows of Parquet files; it decodes
// what is not packed yet. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "sql/chunk.h"
#include "sql/columns.h"
#include "sql/connection.h"
#include "sql/cursor.h"
#include "trace/recording/recording.h"

namespace fathom::analysis {

struct StoreOptions {
  trace::NameResolver resolver = {};  // of functions in what is not packed yet
  // kSums: there is no view `events` where something is not packed yet.
  trace::Need need = trace::Need::kEvents;
  int threads = 0;  // of the database; 0: as many as the machine has
  // Of the database, "2GB"; empty: half of the machine's. What needs more goes to a temporary
  // directory.
  std::string memory = {};
  // A directory that statements of ours may write to. What they write is in any order: to keep it,
  // the database holds back what its threads made too early, a gigabyte for ten million rows.
  std::string output = {};
  // Keeps what it learnt of the files from one question to the next, for those who ask hundreds.
  bool remembers_files = false;
};

// What every report, rule and SQL statement asks. Results are copies and outlive it; an Error is
// the engine's, in its words, and the store can be asked again after one. It holds the Parquet
// files open, so a recorder may remove or replace them meanwhile.
class Store {
 public:
  // A path is a recording or a directory of recordings; all of them are shown as one. Nothing is
  // written. The database is closed against everything but these recordings before this returns.
  static Result<Store> open(std::span<const std::string> paths, const StoreOptions& options = {});
  static Result<Store> open(const std::string& path, const StoreOptions& options = {});
  // One recording whose rows are all in its tail, or in memory at least as far as sums go: what a
  // run knows when its program has ended. There is no view `events`.
  static Result<Store> of_sums(trace::Part part);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Questions of ours, and somebody else's: see sql/connection.h.
  Result<Table> query(const std::string& sql, const sql::Parameters& parameters = {});
  Status stream(const std::string& sql, const sql::OnRows& on_rows,
                const sql::Parameters& parameters = {});
  Status stream_chunks(const std::string& sql, const sql::OnChunk& on_chunk);
  // Of ours, about tables of the recordings, `losses` and the views of rule_views.h alone: it makes
  // none of those of reports.
  Result<Table> query_sums(const std::string& sql);
  Result<Table> query_untrusted(const std::string& sql, const sql::Parameters& parameters = {});
  Status stream_untrusted(const std::string& sql, const sql::OnRows& on_rows,
                          const sql::Parameters& parameters = {});

  // Tables of the views that take a pass over all events (ViewDef::make), made at the first call.
  // Somebody else's question has them made by naming such a view.
  using Make = Status (*)(Store& store);
  Status ensure(Make make);
  [[nodiscard]] bool has_made() const;  // any of them
  // A table for all questions to come, in place of a view of that name.
  Status put_table(const std::string& name, const sql::Batch& rows);

  // Somebody else's question, whose rows are taken when they are wanted. It outlives the store, and
  // another thread may have it.
  Result<sql::Cursor> ask(const std::string& sql, const sql::Parameters& parameters = {});

  // Ends the question that is being answered, but for those that ask() gave away. Any thread may
  // use it, also when the store is gone.
  [[nodiscard]] sql::Interrupter interrupter() const;

  // What was opened. Tails are gone: their rows are in the views.
  [[nodiscard]] const std::vector<trace::Part>& parts() const;
  [[nodiscard]] bool packed() const;  // there was no tail: the Parquet files hold every row
  [[nodiscard]] trace::RunState state() const;  // running before partial before complete
  // From the start of the first recording to the end of the last, as far as it is known by now.
  [[nodiscard]] Result<std::int64_t> wall_ns();

 private:
  class State;
  explicit Store(std::unique_ptr<State> state);
  Status make_what_is_named(const std::string& sql);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::analysis
