// SPDX-License-Identifier: MIT
// DFTracer's own rules for file names and for calls that it leaves out, oddities included: users
// compare our files with theirs.
#include "render/export/dftracer_settings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/layers.h"
#include "base/files.h"
#include "base/text.h"
#include "render/export/pfw_words.h"

namespace fathom::render {
namespace {

constexpr std::string_view kLeftOut[] = {"/pipe",   "/socket",    "/proc",  "/sys",
                                         "/collab", "anon_inode", "socket", "/var/tmp"};
constexpr std::string_view kLeftOutEnds[] = {".pfw", ".py", ".pfw.gz"};

bool is_python(std::string_view program) { return base_name(program).starts_with("python"); }

std::string absolute_prefix(std::string_view directory, const std::string& cwd) {
  std::string path(directory);
  if (!path.starts_with('/')) path = cwd + "/" + path;
  const Result<std::string> plain = absolute_path(path);
  return plain ? *plain : path;
}

bool wants_file(const DftracerSettings& settings, std::string_view file) {
  if (!settings.data_dirs.empty()) {
    return std::ranges::any_of(settings.data_dirs, [&](const std::string& directory) {
      return file.starts_with(directory);
    });
  }
  return std::ranges::none_of(kLeftOut, [&](auto start) { return file.starts_with(start); }) &&
         std::ranges::none_of(kLeftOutEnds, [&](auto end) { return file.ends_with(end); });
}

}  // namespace

// Calls that concern no file are those of processes, which generation 2 tells.
bool DftracerSettings::wants(const ExportEvent& event) const {
  if (event.layer == "app") return true;
  if (!analysis::is_io(event.layer)) return false;
  if (event.file.empty()) return generation == 2 && event.category == "process";
  return wants_file(*this, event.file);
}

// A word of the command line.
std::string dftracer_program(int generation, std::string_view command) {
  const std::vector<std::string_view> words = split(command, ' ');
  if (words.empty() || words[0].empty()) return "unknown";
  if (!is_python(words[0])) return std::string(base_name(words[0]));
  if (generation == 1)
    return words.size() > 1 ? std::string(base_name(words[1])) : std::string(base_name(words[0]));
  if (command.find("multiprocessing.spawn") != std::string_view::npos) return "DEFAULT-spawn";
  for (std::size_t i = 1; i < words.size(); i++) {
    if (words[i] == "-m" && i + 1 < words.size()) return std::string(words[i + 1]);
    if (words[i].ends_with(".py")) return std::string(base_name(words[i]));
  }
  return "DEFAULT";
}

void make_absolute(DftracerSettings& settings, const std::string& cwd) {
  for (std::string& directory : settings.data_dirs) directory = absolute_prefix(directory, cwd);
}

namespace {

void set_metric(DftracerSettings& settings, std::string_view word) {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"NS", 1}, {"US", 1'000}, {"MS", 1'000'000}, {"SEC", 1'000'000'000}};
  for (const auto& [name, ns] : kUnits) {
    if (name != word) continue;
    settings.metric = name;
    settings.unit_ns = ns;
  }
}

}  // namespace

DftracerSettings parse_dftracer_settings(std::string_view text) {
  DftracerSettings settings;
  std::optional<bool> compression;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    if (key == "generation") settings.generation = value == "1" ? 1 : 2;
    if (key == "log") settings.log = value;
    if (key == "named") settings.named = value == "1";
    if (key == "asked") settings.asked = value == "1";
    if (key == "mode") settings.preloaded = value == "preload";
    if (key == "metadata") settings.metadata = value == "1";
    if (key == "compression") compression = value == "1";
    if (key == "pid") settings.pid = whole_number(value);
    if (key == "time_metric") set_metric(settings, value);
    if (key == "aggregation") settings.aggregation = value == "1" && settings.generation == 2;
    if (key == "interval_ms")
      settings.interval_ms = std::max(whole_number(value).value_or(1), std::int64_t{1});
    if (key == "include") settings.rules.include(value);
    if (key == "exclude") settings.rules.exclude(value);
    if (key != "data_dirs") continue;
    for (const std::string_view directory : split(value, ':')) {
      if (!directory.empty()) settings.data_dirs.emplace_back(directory);
    }
  }
  settings.compression = compression.value_or(settings.generation == 2);
  if (std::ranges::find(settings.data_dirs, "all") != settings.data_dirs.end())
    settings.data_dirs.clear();
  return settings;
}

namespace {

// As a part of a file's name: the command line is the program's own words.
std::string as_part_of_name(std::string_view word) {
  constexpr std::size_t kLongest = 100;
  std::string part(word.substr(0, kLongest));
  std::ranges::replace_if(
      part, [](unsigned char byte) { return byte < ' ' || byte == '/' || byte == 0x7f; }, '_');
  return part;
}

// `.pfw.gz` as a whole, else what stands behind the last dot of a name that does not begin with it.
std::string_view ending_of(std::string_view path) {
  const std::string_view name = base_name(path);
  if (name.size() > 7 && name.ends_with(".pfw.gz")) return name.substr(name.size() - 7);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot);
}

// Of a log that the program named itself. The ending says what kind of file it is, not whose.
std::string with_part_before_ending(const std::string& log, const std::string& part) {
  const std::string ending(ending_of(log));
  return log.substr(0, log.size() - ending.size()) + part + ending;
}

}  // namespace

std::string dftracer_log_path(const DftracerSettings& settings, const DftracerProcess& process) {
  const std::string pid = std::to_string(process.pid);
  const std::string program = dftracer_program(settings.generation, process.command);
  const bool exact = settings.generation == 1 && settings.named;
  std::string path = settings.log;
  if (exact && process.forked) path = with_part_before_ending(path, "-" + pid);
  if (!exact && settings.generation == 1)
    path +=
        "-" + as_part_of_name(program) + "-" + pid + (settings.preloaded ? "" : "-app") + ".pfw";
  if (settings.generation == 2) {
    const char* const kind = process.forked ? "fork" : settings.preloaded ? "preload" : "app";
    if (settings.named) path.resize(path.size() - ending_of(path).size());
    path += "-" + pfw_hash(program + "-" + process.host + "-" + pid) + "-" + kind + ".pfw";
  }
  if (settings.compression && !path.ends_with(".gz")) path += ".gz";
  return path;
}

}  // namespace fathom::render
