// SPDX-License-Identifier: MIT
// Which command of ours each of profiling-framework's programs stands for. Its offline programs
// spoke to the Redis of a job, whose port was the job's number: so their --port names the job.
#include "cli/old_programs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "base/files.h"
#include "base/os_error.h"
#include "base/private_files.h"
#include "base/text.h"
#include "cli/fleet/old_controller.h"
#include "cli/fleet/old_words.h"

namespace fathom::cli {
namespace {

constexpr std::string_view kOfServer[] = {"--bind", "--port", "--cert", "--key"};
constexpr std::string_view kOfClient[] = {"--bind", "--port", "--jobid", "--log", "--program"};
constexpr std::string_view kOfParser[] = {"--file", "--port", "--jobid"};
constexpr std::string_view kOfDump[] = {"--o", "--port", "--jobid"};
constexpr char kData[] = "profiling-data";  // below the directory that the server is started in
constexpr std::string_view kRedisPort = "6379";

Result<int> run_server(const OldWords& words, RunsCommand run) {
  FATHOM_TRY(old_server_url(words));  // the port is one
  if (!path_exists(kData)) FATHOM_TRY(make_private_dir(kData));
  std::string host = words.value("--bind", "127.0.0.1");
  if (host == "localhost") host = "127.0.0.1";
  std::vector<std::string> given = {"--listen", host + ":" + words.value("--port", "10000"),
                                    "--data", kData};
  for (const char* const option : {"--cert", "--key"}) {
    if (words.has(option)) given.insert(given.end(), {option, words.value(option)});
  }
  return run("server", std::move(given));
}

Result<int> run_client(const std::string& action, const OldWords& words, RunsCommand run) {
  if (!words.has("--jobid"))
    return usage_error("--jobid is missing", "name the job that gets the numbers");
  FATHOM_ASSIGN(const std::string url, old_server_url(words));
  std::vector<std::string> given = {action, "--server", url, "--job", words.value("--jobid")};
  for (const char* const option : {"--log", "--program"}) {
    if (words.has(option)) given.insert(given.end(), {option, words.value(option)});
  }
  if (!words.tail.empty()) {
    given.emplace_back("--");
    given.insert(given.end(), words.tail.begin(), words.tail.end());
  }
  return run("agent", std::move(given));
}

std::string job_of(const OldWords& words) {
  return words.value("--jobid", words.value("--port", kRedisPort));
}

Result<int> run_parser(const OldWords& words, RunsCommand run) {
  if (!words.has("--file"))
    return usage_error("--file is missing", "name a file with the text of 'perf script'");
  FATHOM_ASSIGN(const File file, File::open(words.value("--file"), O_RDONLY));
  if (::dup2(file.fd(), STDIN_FILENO) < 0) return os_error(errno, "read " + file.path());
  return run("agent", {"profile", "--stdin", "--job", job_of(words)});
}

Result<int> run_dump(const OldWords& words, RunsCommand run) {
  if (!words.has("--o")) return usage_error("--o is missing", "name the file to write");
  return run("job", {"show", job_of(words), "--profile", "--file", words.value("--o")});
}

}  // namespace

Result<int> run_old_program(std::string_view program, const std::vector<std::string>& words,
                            RunsCommand run) {
  std::string name(base_name(program));
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  if (name == "profiling-controller") return run_old_controller(words);
  const bool is_client = name.ends_with("-client");
  std::span<const std::string_view> known = kOfDump;
  if (name == "profiling-server") known = kOfServer;
  if (name == "profiling-parser") known = kOfParser;
  if (is_client) known = kOfClient;
  FATHOM_ASSIGN(const OldWords given, parse_old_words(words, known));
  if (name == "profiling-server") return run_server(given, run);
  if (is_client) return run_client(name == "benchmark-client" ? "bench" : "profile", given, run);
  return name == "profiling-parser" ? run_parser(given, run) : run_dump(given, run);
}

}  // namespace fathom::cli
