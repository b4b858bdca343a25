// SPDX-License-Identifier: MIT
// Texts of strangers as queries, against a closed database: whatever they say, nothing is made,
// changed or removed, in the database or on disk.
//
// The first byte chooses: even, the rest is the text; odd, each further byte is a word of a small
// language, so that sound statements are found soon. Numbers are small and nothing recurses: what
// is allowed must end.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sql/connection.h"

namespace fathom::sql {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWords = 24;
constexpr std::string_view kWords[] = {
    "SELECT",
    "FROM",
    "WHERE",
    "(",
    ")",
    ",",
    ";",
    "*",
    "x",
    "events",
    "0",
    "1",
    "2",
    "'a'",
    "AS",
    "WITH",
    "t",
    "UNION ALL",
    "VALUES",
    "SHOW TABLES",
    "DESCRIBE",
    "SUMMARIZE",
    "EXPLAIN",
    "ANALYZE",
    "COPY",
    "TO",
    "'FOLDER/made'",
    "CREATE",
    "TABLE",
    "VIEW",
    "INSERT INTO",
    "DELETE FROM",
    "UPDATE",
    "SET",
    "DROP",
    "ATTACH",
    "PRAGMA",
    "CALL",
    "EXPORT DATABASE",
    "INSTALL",
    "LOAD",
    "PREPARE",
    "EXECUTE",
    "=",
    "enable_logging",
    "query",
    "query_table",
    "read_csv",
    "read_text",
    "arrow_scan",
    "seq_scan",
    "pragma_version",
    "checkpoint",
    "force_checkpoint",
    "unnest",
    "range",
    "'SELECT 1'",
    "IN",
    "EXISTS",
    "LATERAL",
    "JOIN",
    "ON",
    "duckdb_tables",
    "write_log",
    "storage_path",
    "'FOLDER/made.csv'",
    ":=",
    "=>",
    "PIVOT",
    "USING",
    "count",
    "enable_profiling",
    "set_config",
    "getenv('HOME')",
    "nextval('s')",
    "BEGIN",
    "COMMIT",
    "RETURNING",
};

// A closed database with one view, and the folder that its queries may read.
class Cage {
 public:
  Cage() {
    std::string pattern = (fs::temp_directory_path() / "fathom-sql-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    const auto database =
        Database::open_memory({.threads = 1, .memory_limit = "200MB", .temp_directory = {}});
    connection_.emplace(Connection::open(*database).value());
    (void)connection_->execute("CREATE VIEW events AS SELECT range AS x FROM range(3)");
    (void)connection_->execute("CREATE SEQUENCE s");
    const std::string directories[] = {folder_ + "/"};
    if (!connection_->lock_down(directories)) std::abort();
    state_ = state();
  }
  ~Cage() { fs::remove_all(folder_); }
  Cage(const Cage&) = delete;
  Cage& operator=(const Cage&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }

  void ask(const std::string& sql) {
    const Result<Table> answer = connection_->query_untrusted(sql);
    if (!fs::is_empty(folder_)) std::abort();
    // What was refused before it ran has changed nothing; looking is slow.
    if (answer || answer.error().code != Code::kDenied) require_unchanged();
  }

 private:
  void require_unchanged() {
    if (state() != state_) std::abort();
  }

  // What the database holds.
  std::string state() {
    const auto table = connection_->query(
        "SELECT (SELECT count(*) FROM duckdb_tables()), (SELECT count(*) FROM duckdb_views()), "
        "(SELECT coalesce(last_value, 0) FROM duckdb_sequences()), "
        "(SELECT count(*) FROM duckdb_databases())");
    if (!table || table->rows.size() != 1) std::abort();
    std::string text;
    for (const Value& cell : table->rows[0])
      text += std::to_string(std::get<std::int64_t>(cell.data)) + ' ';
    return text;
  }

  std::string folder_;
  std::optional<Connection> connection_;
  std::string state_;
};

std::string statement_of(const std::uint8_t* data, std::size_t size, const std::string& folder) {
  if (size > 0 && data[0] % 2 == 0) return {reinterpret_cast<const char*>(data) + 1, size - 1};
  std::string sql;
  for (std::size_t i = 1; i < size && i <= kMostWords; i++) {
    std::string word(kWords[data[i] % std::size(kWords)]);
    if (const auto at = word.find("FOLDER"); at != std::string::npos) word.replace(at, 6, folder);
    sql += word + ' ';
  }
  return sql;
}

}  // namespace
}  // namespace fathom::sql

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fathom::sql::Cage cage;
  cage.ask(fathom::sql::statement_of(data, size, cage.folder()));
  return 0;
}
