// SPDX-License-Identifier: MIT
// Routes rows to one DFTracer file for each process. Whenever a log is settled, how far each file
// has come is saved, so that a successor cuts the files back and goes on.
#include "convert/dftracer_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/own_file.h"
#include "base/text.h"
#include "convert/batch_events.h"
#include "render/export/dftracer_log.h"

namespace fathom::convert {
namespace {

// A file that a collector left.
struct Left {
  std::int64_t size = 0;
  render::DftracerMark mark;
};

std::string line_of(const Left& left, const std::string& path) {
  std::string line;
  for (const std::int64_t number :
       {left.size, left.mark.ids, left.mark.last, std::int64_t{left.mark.changed}})
    line += std::to_string(number) + " ";
  return line + path + "\n";
}

// A line of line_of() and its path; without a path, a number alone. Nothing: it is neither.
std::optional<std::pair<Left, std::string>> parse_line(std::string_view line) {
  if (!parse_int(line.substr(0, line.find(' ')))) return std::nullopt;
  Left left;
  std::int64_t changed = 0;
  for (std::int64_t* number : {&left.size, &left.mark.ids, &left.mark.last, &changed}) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const Result<std::int64_t> read = parse_int(line.substr(0, space));
    if (!read) break;  // older lines have the path right behind the size
    *number = *read;
    line.remove_prefix(std::min(space + 1, line.size()));
  }
  left.mark.changed = changed != 0;
  return std::pair(left, std::string(line));
}

// Rows come log by log. What of them is in the files is known at each settle(): a collector that
// takes over cuts the files back to there and is given the logs from there on, so that no row is
// written twice or lost.
class DftracerFiles : public session::RowConsumer {
 public:
  // What a collector that was killed had settled: the number of the first log that is not in the
  // files, then a line for each file.
  DftracerFiles(std::string state_path, std::int64_t start_ns, DropInPlaceOf place_of)
      : state_path_(std::move(state_path)), place_of_(std::move(place_of)), start_ns_(start_ns) {
    if (state_path_.empty()) return;
    const Result<std::string> state = read_private_file(state_path_, kLargestState);
    if (!state) return;
    for (const std::string_view line : split(*state, '\n')) {
      const auto read = parse_line(line);
      if (!read) continue;
      const auto& [left, path] = *read;
      if (path.empty()) {
        first_log_ = static_cast<std::uint64_t>(left.size);
      } else if (cut(path, left.size)) {
        left_.insert_or_assign(path, left);
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
      state += line_of({static_cast<std::int64_t>(size), log->mark()}, log->path());
    }
    // Whoever comes after this collector has to know those that it has not touched, too.
    for (const auto& [path, left] : left_) state += line_of(left, path);
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
      FATHOM_TRY(log->complete(in_order, process.end != 0 ? start_ns_ + process.end : 0));
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
    const auto left = left_.find(path);
    const bool goes_on = left != left_.end() && path_exists(path);
    const auto begin = goes_on          ? render::DftracerBegin::kGoesOn
                       : place->by_hand ? render::DftracerBegin::kOnlyNew
                                        : render::DftracerBegin::kAnew;
    const render::DftracerMark mark = goes_on ? left->second.mark : render::DftracerMark();
    if (left != left_.end()) left_.erase(left);  // from now on it is a log of ours
    auto log = std::make_unique<render::DftracerLog>(std::move(settings), std::move(facts),
                                                     start_ns_, begin, mark);
    return logs_.emplace(key, std::move(log)).first->second.get();
  }

  std::string state_path_;
  DropInPlaceOf place_of_;
  std::uint64_t first_log_ = 0;
  std::int64_t start_ns_;
  std::map<std::string, Left> left_;  // by a collector before, and not touched since
  std::map<std::pair<std::uint64_t, std::string>, std::unique_ptr<render::DftracerLog>> logs_;
};

}  // namespace

std::unique_ptr<session::RowConsumer> dftracer_files(std::string state_path, std::int64_t start_ns,
                                                     DropInPlaceOf place_of) {
  return std::make_unique<DftracerFiles>(std::move(state_path), start_ns, std::move(place_of));
}

}  // namespace fathom::convert
