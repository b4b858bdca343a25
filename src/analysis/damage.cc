// SPDX-License-Identifier: MIT
// Files are read in a database of their own: one that failed may not answer again, and the one of a
// store is locked.
#include "analysis/damage.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "analysis/source_names.h"
#include "base/files.h"
#include "base/text.h"
#include "sql/connection.h"
#include "sql/database.h"
#include "sql/engine_error.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

using namespace std::chrono_literals;

// The hash of a row takes the values of all columns.
std::string read_all(const trace::DataFile& file) {
  return "SELECT bit_xor(hash(r)) FROM read_parquet([" + sql::quote_literal(file.source) +
         "]) AS r";
}

std::string name_of(const trace::DataFile& file) {
  return file.path.empty() ? "a temporary file" : std::string(base_name(file.path));
}

Error damage_of(const std::string& recording, const std::vector<std::string>& files,
                const Error& reason) {
  return {Code::kCorrupt,
          fmt::format("the recording {} is damaged: {} cannot be read ({})", recording,
                      join(files, ", "), reason.message),
          fmt::format("record again, or move {} elsewhere: the other files can be read without {}",
                      files.size() == 1 ? files.front() : "these files",
                      files.size() == 1 ? "it" : "them")};
}

// A file that somebody made may take for ever, or all memory: nobody waits so long for a reason.
class Patience {
 public:
  explicit Patience(const sql::Interrupter& reading)
      : thread_([this, reading](const std::stop_token& stop) { wait(stop, reading); }) {}

  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  // Again and again, since it may stand between two files.
  void wait(const std::stop_token& stop, const sql::Interrupter& reading) {
    std::unique_lock lock(mutex_);
    for (std::chrono::milliseconds time = 10s; !stop.stop_requested(); time = 20ms) {
      if (changed_.wait_for(lock, stop, time, [&] { return stop.stop_requested(); })) return;
      is_over_ = true;
      reading.interrupt();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::atomic<bool> is_over_ = false;
  std::jthread thread_;  // the last: it goes first
};

}  // namespace

DamageFinder::DamageFinder(const std::vector<trace::Part>& parts) {
  for (const trace::Part& part : parts) {
    for (const auto& [table, files] : part.files) {
      for (const trace::DataFile& file : files) sources_.push_back({part.directory, file});
    }
  }
}

Error DamageFinder::explained(Error error) const {
  if (!sql::may_be_of_data(error)) return error;
  const Result<sql::Database> database =
      sql::Database::open_memory({.threads = 1, .memory_limit = "512MiB"});
  if (!database) return error;
  Result<sql::Connection> connection = sql::Connection::open(*database);
  if (!connection) return error;
  std::string recording;  // the first one that is damaged
  std::vector<std::string> damaged;
  const Patience patience(connection->interrupter());
  for (const Source& source : sources_) {
    if (patience.is_over()) break;
    if (!damaged.empty() && source.recording != recording) break;
    Result<Table> rows = connection->query(read_all(source.file));
    if (rows || !sql::may_be_of_data(rows.error())) continue;
    if (damaged.empty()) error = with_path(std::move(rows).error(), source.file);
    recording = source.recording;
    damaged.push_back(name_of(source.file));
  }
  return damaged.empty() ? error : damage_of(recording, damaged, error);
}

}  // namespace fathom::analysis
