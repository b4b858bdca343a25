// SPDX-License-Identifier: MIT
// Routes rows to one DFTracer file for each process. Sizes are saved whenever a log is settled, so
// that a successor cuts the files back and goes on.
#include "convert/dftracer_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/own_file.h"
#include "base/text.h"
#include "convert/batch_events.h"
#include "render/export/dftracer_log.h"

namespace fathom::convert {
namespace {

class DftracerFiles : public session::RowConsumer {
 public:
  // What a collector that was killed had settled: the files, each with its size then, behind the
  // number of the first log that is not in them.
  DftracerFiles(std::string state_path, std::int64_t start_ns, DropInPlaceOf place_of)
      : state_path_(std::move(state_path)), place_of_(std::move(place_of)), start_ns_(start_ns) {
    if (state_path_.empty()) return;
    const Result<std::string> state = read_private_file(state_path_, kLargestState);
    if (!state) return;
    for (const std::string_view line : split(*state, '\n')) {
      const std::size_t space = line.find(' ');
      const Result<std::int64_t> number = parse_int(line.substr(0, space));
      if (!number) continue;
      if (space == std::string_view::npos) {
        first_log_ = static_cast<std::uint64_t>(*number);
      } else if (cut(std::string(line.substr(space + 1)), *number)) {
        begun_.emplace(line.substr(space + 1));
      }
    }
  }

  Status take(const session::StreamProcess& process, const trace::EventBatch& events,
              const std::vector<std::size_t>& rows, const trace::Strings& strings) override {
    render::DftracerLog* const log = log_of(process);
    if (log == nullptr) return {};
    std::vector<render::ExportArg> args;
    for (const std::size_t row : rows) {
      render::ExportEvent event = event_of(events, row, strings, args);
      if (event.tid == process.row_pid) event.tid = process.pid;  // as the thread calls itself
      FATHOM_TRY(log->add(event));
    }
    return {};
  }

  Status settle(std::uint64_t n, const std::string& /*ahead*/) override {
    if (state_path_.empty()) return {};
    std::string state = std::to_string(n + 1) + "\n";
    for (auto& [key, log] : logs_) {
      FATHOM_TRY(log->flush());
      const Result<File> file = open_own_file(log->path(), O_RDONLY);
      if (!file) continue;  // nothing of it was asked for yet
      FATHOM_ASSIGN(const std::uint64_t size, file->size());
      state += std::to_string(size) + " " + log->path() + "\n";
    }
    return write_file_atomic(state_path_, state, 0600);
  }
  [[nodiscard]] std::uint64_t first_log() const override { return first_log_; }

  // A process may have begun anew under another name: its files before are complete, too.
  Status complete(const session::StreamProcess& process, bool in_order) override {
    if (log_of(process) == nullptr) return {};
    for (auto& [key, log] : logs_) {
      if (key.first != process.key) continue;
      if (key.second == process.settings && !process.forked) {
        for (const auto& [name, value] : process.facts) log->add_fact(name, value);
      }
      FATHOM_TRY(log->complete(in_order));
    }
    return {};
  }

  [[nodiscard]] bool keeps_recording() const override { return true; }

 private:
  static constexpr std::size_t kLargestState = std::size_t{64} << 20;

  static bool cut(const std::string& path, std::int64_t size) {
    const Result<File> file = open_own_file(path, O_WRONLY);
    return file.has_value() && ::ftruncate(file->fd(), size) == 0;
  }

  // nullptr: nobody who may say so says where.
  render::DftracerLog* log_of(const session::StreamProcess& process) {
    const std::pair key(process.key, process.settings);
    const auto known = logs_.find(key);
    if (known != logs_.end()) return known->second.get();
    const std::optional<DropInPlace> place = place_of_(process);
    if (!place) return nullptr;
    render::DftracerSettings settings = render::parse_dftracer_settings(process.settings);
    settings.log = place->log;
    if (place->by_hand) settings.named = false;
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
    const auto begin = begun_.contains(path) && path_exists(path) ? render::DftracerBegin::kGoesOn
                       : place->by_hand                           ? render::DftracerBegin::kOnlyNew
                                                                  : render::DftracerBegin::kAnew;
    auto log = std::make_unique<render::DftracerLog>(std::move(settings), std::move(facts),
                                                     start_ns_, begin);
    return logs_.emplace(key, std::move(log)).first->second.get();
  }

  std::string state_path_;
  DropInPlaceOf place_of_;
  std::uint64_t first_log_ = 0;
  std::int64_t start_ns_;
  std::set<std::string, std::less<>> begun_;  // by a collector before
  std::map<std::pair<std::uint64_t, std::string>, std::unique_ptr<render::DftracerLog>> logs_;
};

}  // namespace

std::unique_ptr<session::RowConsumer> dftracer_files(std::string state_path, std::int64_t start_ns,
                                                     DropInPlaceOf place_of) {
  return std::make_unique<DftracerFiles>(std::move(state_path), start_ns, std::move(place_of));
}

}  // namespace fathom::convert
