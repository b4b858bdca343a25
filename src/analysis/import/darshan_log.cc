// SPDX-License-Identifier: MIT
// Logs of Darshan are binary and change with its versions, and its own parser knows them all: it is
// run into a file without a name where the log is binary. Where it is not installed, the error says
// which command to type elsewhere.
#include "analysis/import/darshan_log.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/os_error.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

Result<Fd> nameless_file() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  const int fd = file == nullptr ? -1 : ::fcntl(::fileno(file.get()), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return os_error(errno, "make a temporary file");
  return Fd(fd);
}

Error not_installed(const std::string& path, const std::string& parser) {
  return {Code::kUnsupported, path + ": a log of Darshan, and " + parser + " is not installed",
          "where darshan-util is: " + parser + " LOG > LOG.txt, and import that"};
}

// Its stderr is ours, for whoever waits for the import.
Status run_parser(const std::string& parser, const std::string& path, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  std::vector<std::string> words = {parser, path};
  char* arguments[] = {words[0].data(), words[1].data(), nullptr};
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, parser.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT) return not_installed(path, parser);
  if (failure != 0) return os_error(failure, "run " + parser);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{Code::kInvalid, parser + " cannot read " + path, "its own message above says why"};
}

}  // namespace

Result<DarshanTexts> DarshanTexts::open(std::span<const std::string> files,
                                        const std::string& parser) {
  DarshanTexts texts;
  for (const std::string& path : files) {
    FATHOM_ASSIGN(const File file, File::open(path, O_RDONLY));
    char head[16] = {};
    FATHOM_ASSIGN(const std::size_t got,
                  file.pread_some(std::as_writable_bytes(std::span(head)), 0));
    if (!is_darshan_log({head, got})) {
      texts.paths_.push_back(path);
      continue;
    }
    FATHOM_ASSIGN(Fd text, nameless_file());
    FATHOM_TRY(run_parser(parser, path, text.get()));
    texts.paths_.push_back("/proc/self/fd/" + std::to_string(text.get()));
    texts.made_.push_back(std::move(text));
  }
  return texts;
}

trace::Manifest darshan_manifest(std::span<const DarshanJob> jobs,
                                 std::span<const std::string> files) {
  trace::Manifest manifest;
  manifest.origin = "import";
  manifest.facts["imported_from"] = join({files.begin(), files.end()}, " ");
  if (jobs.empty()) return manifest;
  manifest.start_realtime_ns = std::ranges::min_element(jobs, {}, &DarshanJob::start_ns)->start_ns;
  std::int64_t duration = 0;
  for (const DarshanJob& job : jobs)
    duration = std::max(duration, job.start_ns - manifest.start_realtime_ns + job.run_ns);
  manifest.duration_ns = duration;
  for (const std::string_view word : split(jobs.front().command, ' '))
    if (!word.empty()) manifest.command.emplace_back(word);
  if (!jobs.front().job_id.empty()) manifest.facts["job"] = jobs.front().job_id;
  if (!jobs.front().version.empty()) manifest.facts["darshan_log_version"] = jobs.front().version;
  return manifest;
}

void append_darshan_ranks(const DarshanJob& job, std::int32_t first_pid, std::int64_t shift_ns,
                          trace::RecordingWriter& writer) {
  for (std::int32_t rank = 0; rank < job.ranks(); ++rank) {
    trace::ProcessRow row;
    row.pid = std::int64_t{first_pid} + rank;
    row.rank = rank;
    row.name = base_name(split(job.command, ' ').front());
    row.command = job.command;
    row.start = shift_ns;
    row.end = shift_ns + job.run_ns;
    writer.append(std::move(row));
  }
}

}  // namespace fathom::analysis
