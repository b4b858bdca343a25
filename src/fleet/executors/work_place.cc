// SPDX-License-Identifier: MIT
// Reads and writes the files of a place. Programs that share the folder may leave anything there,
// so sizes and types are checked and a damaged file is an error.
#include "fleet/executors/work_place.h"

#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/own_file.h"
#include "base/private_files.h"
#include "base/text.h"

namespace fathom::fleet {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{8} << 20U;  // of work.json: arguments may be long
constexpr std::size_t kMostResult = 65'536;

Result<std::string> read_some(const std::string& path, std::size_t most) {
  FATHOM_ASSIGN(const File file, open_own_file(path, O_RDONLY));
  return file.read_range(0, most);
}

// As a double first: a number that does not fit the type would be undefined behaviour to convert.
template <class T>
T number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return T{};
  const double number = found->get<double>();
  constexpr double kLargest = 9e18;
  return std::isfinite(number) && std::fabs(number) < kLargest ? static_cast<T>(number) : T{};
}

}  // namespace

std::vector<std::string> words_of_worker(const std::string& fathom, const std::string& place) {
  return {fathom, "suite", "work", place};
}

Result<std::string> own_program() { return real_path("/proc/self/exe"); }

Status prepare_place(const Work& work) {
  FATHOM_TRY(make_dirs(std::string(dir_name(work.place))));
  FATHOM_TRY(make_private_dir(work.place));
  const json what = {{"id", work.id},
                     {"command", work.command},
                     {"environment", work.environment},
                     {"directory", work.directory},
                     {"timeout_ns", work.timeout_ns}};
  return write_private_atomic(join_path(work.place, "work.json"),
                              what.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<Work> read_work(const std::string& place) {
  const std::string path = join_path(place, "work.json");
  FATHOM_ASSIGN(const std::string text, read_some(path, kMostBytes));
  const json what = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const Error damaged{Code::kCorrupt, path + " is damaged", ""};
  if (!what.is_object()) return damaged;
  Work work;
  work.place = place;
  const json command = what.value("command", json());
  if (!command.is_array() || command.empty()) return damaged;
  for (const json& word : command) {
    if (!word.is_string()) return damaged;
    work.command.push_back(word.get<std::string>());
  }
  const json environment = what.value("environment", json::object());
  for (const auto& [name, value] : environment.items()) {
    if (!value.is_string()) return damaged;
    work.environment[name] = value.get<std::string>();
  }
  const json directory = what.value("directory", json());
  if (directory.is_string()) work.directory = directory.get<std::string>();
  const json id = what.value("id", json());
  if (id.is_string()) work.id = id.get<std::string>();
  work.timeout_ns = number_at<std::int64_t>(what, "timeout_ns");
  return work;
}

// `exit` is what makes it a result; all else may be missing, as in what Jenkins' script writes.
std::optional<WorkOutcome> parse_outcome(const std::string& text) {
  const json result = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!result.is_object() || !result.contains("exit") || !result["exit"].is_number())
    return std::nullopt;
  WorkOutcome outcome;
  constexpr double kHighest = 255;
  outcome.exit = static_cast<int>(std::clamp(result["exit"].get<double>(), 0.0, kHighest));
  outcome.wall = std::max(0.0, number_at<double>(result, "wall"));
  outcome.user = std::max(0.0, number_at<double>(result, "user"));
  outcome.system = std::max(0.0, number_at<double>(result, "system"));
  outcome.max_rss = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, number_at<std::int64_t>(result, "max_rss")));
  const auto host = result.find("host");
  if (host != result.end() && host->is_string()) outcome.host = host->get<std::string>();
  outcome.timed_out = result.value("timed_out", json(false)) == true;
  return outcome;
}

std::optional<WorkOutcome> read_outcome(const std::string& place) {
  const Result<std::string> text = read_some(join_path(place, "result.json"), kMostResult);
  if (text) return parse_outcome(*text);
  if (!path_exists(join_path(place, "timed_out"))) return std::nullopt;
  WorkOutcome outcome;  // the whole group was killed, and with it who would have told more
  constexpr int kKilled = 137;
  outcome.exit = kKilled;
  outcome.timed_out = true;
  return outcome;
}

Status write_outcome(const std::string& place, const WorkOutcome& outcome) {
  const json result = {{"exit", outcome.exit},          {"wall", outcome.wall},
                       {"user", outcome.user},          {"system", outcome.system},
                       {"max_rss", outcome.max_rss},    {"host", outcome.host},
                       {"timed_out", outcome.timed_out}};
  return write_private_atomic(join_path(place, "result.json"), result.dump(1) + "\n");
}

// 0: none yet. Work on another machine shows by it that it lives; its own clock decides nothing,
// only that the number changes.
std::int64_t read_beat(const std::string& place) {
  constexpr std::size_t kDigits = 20;
  const Result<std::string> text = read_some(join_path(place, "beat"), kDigits);
  if (!text) return 0;
  const Result<std::int64_t> number = parse_int(trim(*text));
  return number ? *number : 0;
}

Result<std::string> read_log(const std::string& place) {
  constexpr std::uint64_t kEnd = 65'536;
  FATHOM_ASSIGN(const File file, open_own_file(join_path(place, "log"), O_RDONLY));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  return file.read_range(size > kEnd ? size - kEnd : 0, kEnd);
}

}  // namespace fathom::fleet
