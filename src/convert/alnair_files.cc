// SPDX-License-Identifier: MIT
// Keeps Alnair's logs up to date every 10 ms, as its own thread did. Its state is saved, so that a
// collector that was killed can be succeeded without duplicate lines.
#include "convert/alnair_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/own_file.h"
#include "base/text.h"
#include "convert/batch_events.h"
#include "render/export/alnair_log.h"

namespace fathom::convert {
namespace {

using session::StreamProcess;

constexpr std::int64_t kEveryNs = 10'000'000;  // as Alnair's own thread did

constexpr std::size_t kLargestState = std::size_t{64} << 20;

// Whoever reads it finds a whole file at any moment. It is written too often to be synced.
Status replace_file(const std::string& path, const std::string& content, mode_t mode) {
  const std::string draft = path + ".new";
  ::unlink(draft.c_str());
  FATHOM_ASSIGN(File file, open_own_file(draft, O_WRONLY | O_CREAT | O_EXCL, mode));
  FATHOM_TRY(file.write_all(content));
  return rename_path(draft, path);
}

// A key of 64 bits, as parse_int() reads it back.
std::string signed_text(std::uint64_t key) {
  return std::to_string(static_cast<std::int64_t>(key));
}

// One pair of logs.
// metrics.log is written anew each time, as Alnair did; timeline.log is only appended to, so that a
// reader with tail -f sees each line once.
class Pair {
 public:
  // `part` is "" for the plain names. Theirs was appended to from run to run.
  Pair(const std::string& folder, const std::string& part, bool appends)
      : metrics_path_(join_path(folder, "metrics" + part + ".log")),
        timeline_path_(join_path(folder, "timeline" + part + ".log")) {
    if (!appends) ::unlink(timeline_path_.c_str());
    begin_ = size_ = size_now();
  }

  void add(const render::ExportEvent& event, std::int64_t start_ns) {
    metrics_.add(event);
    render::append_alnair_line(event, start_ns, pending_);
    changed_ = true;
  }

  [[nodiscard]] bool changed() const { return changed_; }
  Status flush() {
    if (!changed_) return {};
    FATHOM_TRY(replace_file(metrics_path_, metrics_.text(), 0644));
    FATHOM_ASSIGN(File file, open_own_file(timeline_path_, O_WRONLY | O_CREAT | O_APPEND, 0644));
    FATHOM_TRY(file.write_all(pending_));
    size_ += pending_.size();
    pending_.clear();
    changed_ = false;
    return {};
  }

  // A copy of what this run wrote so far, for the only process that there was.
  Status copy_to(Pair& other) {
    FATHOM_TRY(flush());
    FATHOM_ASSIGN(const File file, open_own_file(timeline_path_, O_RDONLY));
    other.metrics_ = metrics_;
    other.pending_.resize(size_ - std::min(begin_, size_));
    FATHOM_ASSIGN(const std::size_t got,
                  file.pread_some(std::as_writable_bytes(std::span(other.pending_)), begin_));
    other.pending_.resize(got);
    return {};
  }

  [[nodiscard]] std::string state() const {
    return std::to_string(begin_) + " " + std::to_string(size_) + " " + metrics_.state();
  }
  // What was written behind the state is written again.
  void restore(std::int64_t begin, std::int64_t size, std::string_view metrics) {
    begin_ = static_cast<std::uint64_t>(begin);
    size_ = static_cast<std::uint64_t>(size);
    const Result<File> file = open_own_file(timeline_path_, O_WRONLY);
    if (file && size_ < size_now()) (void)!::ftruncate(file->fd(), size);
    metrics_ = render::AlnairMetrics::from_state(metrics);
    changed_ = true;
  }

 private:
  [[nodiscard]] std::uint64_t size_now() const {
    const Result<File> file = open_own_file(timeline_path_, O_RDONLY);
    const Result<std::uint64_t> size = file ? file->size() : Result<std::uint64_t>(0);
    return size ? *size : 0;
  }

  std::string metrics_path_;
  std::string timeline_path_;
  render::AlnairMetrics metrics_;
  std::string pending_;
  std::uint64_t begin_ = 0;  // of this run, in timeline.log
  std::uint64_t size_ = 0;
  bool changed_ = true;
};

// The logs of a directory: plain names for all of the run, and where several processes used CUDA a
// pair for each.
class Folder {
 public:
  // `only_new`: there must be no logs of a process that has one here.
  Folder(std::string path, bool only_new)
      : path_(std::move(path)), only_new_(only_new), all_(path_, "", true) {}

  Status add(const StreamProcess& process, const render::ExportEvent& event,
             std::int64_t start_ns) {
    FATHOM_ASSIGN(Pair* const own, pair_of(process));
    if (own != nullptr) own->add(event, start_ns);
    all_.add(event, start_ns);
    return {};
  }

  Status flush() {
    if (!all_.changed()) return {};
    FATHOM_TRY(make_dirs(path_));
    FATHOM_TRY(all_.flush());
    for (auto& [key, pair] : pairs_) FATHOM_TRY(pair.flush());
    return {};
  }

  // A line for each pair: key and pid of the process, sizes, sums.
  [[nodiscard]] std::string state() const {
    std::string lines = "all 0 " + all_.state() + "\n";
    if (only_key_ != 0)
      lines += "only " + signed_text(only_key_) + " " + std::to_string(only_pid_) + "\n";
    for (const auto& [key, pair] : pairs_)
      lines += signed_text(key) + " " + pids_.at(key) + " " + pair.state() + "\n";
    return lines;
  }

  void restore(std::string_view line) {
    std::vector<std::string_view> words = split(line, ' ');
    if (words.size() < 3) return;
    const Result<std::int64_t> second = parse_int(words[1]);
    const Result<std::int64_t> third = parse_int(words[2]);
    if (!second || !third) return;
    if (words[0] == "only") {
      only_key_ = static_cast<std::uint64_t>(*second);
      only_pid_ = *third;
      return;
    }
    const Result<std::int64_t> size = words.size() > 4 ? parse_int(words[3]) : third;
    if (!size || words.size() < 5) return;
    const auto metrics = static_cast<std::size_t>(words[4].data() - line.data());
    if (words[0] == "all") return all_.restore(*third, *size, line.substr(metrics));
    const Result<std::int64_t> key = parse_int(words[0]);
    if (!key) return;
    const auto process = static_cast<std::uint64_t>(*key);
    pids_.emplace(process, std::string(words[1]));
    const auto [at, fresh] = pairs_.try_emplace(process, path_, "-" + std::string(words[1]), true);
    at->second.restore(*third, *size, line.substr(metrics));
  }

 private:
  // nullptr while there is one process: it has the plain names. With the second one, the first gets
  // what lies there as its own.
  Result<Pair*> pair_of(const StreamProcess& process) {
    if (pairs_.empty() && (only_key_ == 0 || only_key_ == process.key)) {
      only_key_ = process.key;
      only_pid_ = process.pid;
      return nullptr;
    }
    if (pairs_.empty()) {
      FATHOM_TRY(make_dirs(path_));
      FATHOM_ASSIGN(Pair* const first, make_pair(only_key_, only_pid_));
      FATHOM_TRY(all_.copy_to(*first));
    }
    const auto found = pairs_.find(process.key);
    return found != pairs_.end() ? &found->second : make_pair(process.key, process.pid);
  }

  Result<Pair*> make_pair(std::uint64_t key, std::int64_t pid) {
    const std::string number = std::to_string(pid);
    const std::string timeline = join_path(path_, "timeline-" + number + ".log");
    if (only_new_ && path_exists(timeline))
      return Error{Code::kInvalid, timeline + " exists already", "name another directory"};
    pids_.emplace(key, number);
    return &pairs_.try_emplace(key, path_, "-" + number, false).first->second;
  }

  std::string path_;
  bool only_new_;
  Pair all_;
  std::uint64_t only_key_ = 0;  // of the first process; 0: none yet
  std::int64_t only_pid_ = 0;
  std::map<std::uint64_t, Pair> pairs_;  // by process
  std::map<std::uint64_t, std::string> pids_;
};

class AlnairFiles : public session::RowConsumer {
 public:
  // What a collector that was killed had settled: the number of the first log that is not in the
  // files, which rows of later ones are, and each folder with the lines of its state behind its
  // path.
  AlnairFiles(std::string state_path, std::int64_t start_ns, DropInPlaceOf place_of)
      : state_path_(std::move(state_path)), place_of_(std::move(place_of)), start_ns_(start_ns) {
    if (state_path_.empty()) return;
    const Result<std::string> state = read_private_file(state_path_, kLargestState);
    if (!state) return;
    Folder* folder = nullptr;
    for (const std::string_view line : split(*state, '\n')) {
      const Result<std::int64_t> number = parse_int(line);
      if (number) first_log_ = static_cast<std::uint64_t>(*number);
      if (line.starts_with(kAhead)) ahead_ = line.substr(kAhead.size());
      if (line.starts_with('/')) {
        folder = &folder_at({.log = std::string(line)});
      } else if (folder != nullptr && !number) {
        folder->restore(line);
      }
    }
  }

  Status take(const StreamProcess& process, const trace::EventBatch& events,
              const std::vector<std::size_t>& rows, const trace::Strings& strings) override {
    Folder* folder = nullptr;  // those that do not use CUDA make none
    std::vector<render::ExportArg> args;
    for (const std::size_t row : rows) {
      if (strings.view(events.layer[row]) != "cuda") continue;
      if (folder == nullptr) {
        FATHOM_ASSIGN(folder, folder_of(process));
        if (folder == nullptr) return {};
      }
      FATHOM_TRY(folder->add(process, event_of(events, row, strings, args), start_ns_));
    }
    return {};
  }

  Status settle(std::uint64_t n, const std::string& ahead) override {
    if (folders_.empty()) return {};
    FATHOM_TRY(refresh());
    return write_state(n + 1, ahead);
  }
  [[nodiscard]] std::uint64_t first_log() const override { return first_log_; }
  [[nodiscard]] std::string ahead() const override { return ahead_; }

  Status complete(const StreamProcess& process, bool /*in_order*/) override {
    FATHOM_ASSIGN(Folder* const folder, folder_of(process));
    return folder != nullptr ? folder->flush() : Status();
  }
  [[nodiscard]] std::int64_t wants_every(const StreamProcess& /*process*/) const override {
    return kEveryNs;
  }
  Status refresh() override {
    for (auto& [path, folder] : folders_) FATHOM_TRY(folder.flush());
    return {};
  }
  [[nodiscard]] bool keeps_recording() const override { return true; }

 private:
  static constexpr std::string_view kAhead = "ahead ";

  Status write_state(std::uint64_t first_log, const std::string& ahead) const {
    if (state_path_.empty()) return {};
    std::string state = std::to_string(first_log) + "\n" + std::string(kAhead) + ahead + "\n";
    for (const auto& [path, folder] : folders_) state += path + "\n" + folder.state();
    return replace_file(state_path_, state, 0600);
  }

  Folder& folder_at(const DropInPlace& place) {
    return folders_.try_emplace(place.log, place.log, place.by_hand).first->second;
  }

  // Before the first line is added, where this run begins in the files is written down. nullptr:
  // nobody who may say so says where.
  Result<Folder*> folder_of(const StreamProcess& process) {
    const std::optional<DropInPlace> place = place_of_(process);
    if (!place) return nullptr;
    const bool first = folders_.empty();
    Folder& folder = folder_at(*place);
    if (first) FATHOM_TRY(write_state(first_log_, ahead_));
    return &folder;
  }

  std::string state_path_;
  DropInPlaceOf place_of_;
  std::uint64_t first_log_ = 0;
  std::string ahead_;
  std::int64_t start_ns_;
  std::map<std::string, Folder> folders_;
};

}  // namespace

std::unique_ptr<session::RowConsumer> alnair_files(std::string state_path, std::int64_t start_ns,
                                                   DropInPlaceOf place_of) {
  return std::make_unique<AlnairFiles>(std::move(state_path), start_ns, std::move(place_of));
}

}  // namespace fathom::convert
