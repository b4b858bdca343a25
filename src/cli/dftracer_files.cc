// SPDX-License-Identifier: MIT
#include "cli/dftracer_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "cli/batch_events.h"
#include "render/export/dftracer_log.h"
#include "trace/spool.h"

namespace fathom::cli {
namespace {

class DftracerFiles : public session::StreamTaker {
 public:
  // What a collector that was killed had settled: the files, each with its size then, behind the
  // number of the first log that is not in them.
  DftracerFiles(std::string state_path, std::int64_t start_ns)
      : state_path_(std::move(state_path)), start_ns_(start_ns) {
    const Result<std::string> state = read_file(state_path_);
    if (!state) return;
    for (const std::string_view line : split(*state, '\n')) {
      const std::size_t space = line.find(' ');
      const Result<std::int64_t> number = parse_int(line.substr(0, space));
      if (!number) continue;
      if (space == std::string_view::npos) {
        first_log_ = static_cast<std::uint64_t>(*number);
      } else if (::truncate(std::string(line.substr(space + 1)).c_str(), *number) == 0) {
        begun_.emplace(line.substr(space + 1));
      }
    }
  }

  Status take(const session::StreamProcess& process, const trace::EventBatch& events,
              const std::vector<std::size_t>& rows, const trace::Strings& strings) override {
    render::DftracerLog& log = log_of(process);
    std::vector<render::ExportArg> args;
    for (const std::size_t row : rows) FATHOM_TRY(log.add(event_of(events, row, strings, args)));
    return {};
  }

  Status settle(std::uint64_t n, const std::string& /*ahead*/) override {
    std::string state = std::to_string(n + 1) + "\n";
    for (auto& [key, log] : logs_) {
      FATHOM_TRY(log->flush());
      const Result<File> file = File::open(log->path(), O_RDONLY);
      if (!file) continue;  // nothing of it was asked for yet
      FATHOM_ASSIGN(const std::uint64_t size, file->size());
      state += std::to_string(size) + " " + log->path() + "\n";
    }
    return write_file_atomic(state_path_, state, 0600);
  }
  [[nodiscard]] std::uint64_t first_log() const override { return first_log_; }

  // A process may have begun anew under another name: its files before are complete, too.
  Status complete(const session::StreamProcess& process, bool in_order) override {
    (void)log_of(process);
    for (auto& [key, log] : logs_) {
      if (key.first != process.key) continue;
      if (key.second == process.settings && !process.forked) {
        for (const auto& [name, value] : process.facts) log->add_fact(name, value);
      }
      FATHOM_TRY(log->complete(in_order));
    }
    return {};
  }

  [[nodiscard]] bool keeps_recording() const override { return keeps_; }

 private:
  render::DftracerLog& log_of(const session::StreamProcess& process) {
    std::unique_ptr<render::DftracerLog>& log = logs_[{process.key, process.settings}];
    if (log != nullptr) return *log;
    render::DftracerSettings settings = render::parse_dftracer_settings(process.settings);
    keeps_ = settings.keeps_recording;
    render::DftracerProcess facts{
        .host = process.host,
        .pid = process.pid,
        .ppid = process.ppid,
        .forked = process.forked,
        .start_us = (start_ns_ + process.start) / 1000,
        .command = process.command,
        .cwd = process.cwd,
    };
    const std::string path = render::dftracer_log_path(settings, facts);
    const bool goes_on = begun_.contains(path) && path_exists(path);
    log = std::make_unique<render::DftracerLog>(std::move(settings), std::move(facts), start_ns_,
                                                goes_on);
    return *log;
  }

  std::string state_path_;
  std::uint64_t first_log_ = 0;
  std::int64_t start_ns_;
  bool keeps_ = true;  // until somebody says that the recording is for the files alone
  std::set<std::string, std::less<>> begun_;  // by a collector before
  std::map<std::pair<std::uint64_t, std::string>, std::unique_ptr<render::DftracerLog>> logs_;
};

}  // namespace

std::unique_ptr<session::StreamTaker> dftracer_files(const std::string& directory,
                                                     std::int64_t start_ns) {
  const std::string spool = join_path(directory, trace::kSpoolDirectory);
  return std::make_unique<DftracerFiles>(join_path(spool, "dftracer-files"), start_ns);
}

}  // namespace fathom::cli
