// SPDX-License-Identifier: MIT
// Composes LD_PRELOAD and our variables for the program, and chooses what of an environment may be
// shown: a list of harmless names, since any other may hold a secret.
#include "session/environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/files.h"
#include "base/text.h"
#include "base/utf8.h"
#include "session/python_options.h"
#include "wire/region_events.h"

namespace fathom::session {
namespace {

constexpr std::string_view kOwn[] = {"FATHOM_OUT",
                                     "FATHOM_LAYERS",
                                     "FATHOM_CALLS",
                                     "FATHOM_SPOOL_MAX",
                                     "FATHOM_BROKER",
                                     "FATHOM_FILTERS",
                                     FATHOM_REGION_EVENTS_VARIABLE};
constexpr std::string_view kTelling[] = {
    "CUDA_VISIBLE_DEVICES", "HOSTNAME", "LANG",      "LC_ALL",   "LD_LIBRARY_PATH", "LD_PRELOAD",
    "MALLOC_ARENA_MAX",     "PATH",     "PBS_JOBID", "PMI_RANK", "PYTHONPATH",      "TZ",
    "VIRTUAL_ENV"};
constexpr std::string_view kTellingPrefixes[] = {"KMP_",         "MKL_NUM",      "OMPI_COMM_WORLD_",
                                                 "OMP_",         "OPENBLAS_NUM", "SLURM_JOB_",
                                                 "SLURM_NODEID", "SLURM_PROCID", "SLURM_NTASKS"};

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}
std::string_view value_of(std::string_view variable) {
  const std::size_t equals = variable.find('=');
  return equals == std::string_view::npos ? std::string_view() : variable.substr(equals + 1);
}

// Removes all variables of that name and gives the first one's value.
std::string take(std::vector<std::string>& base, std::string_view name) {
  std::string value;
  bool found = false;
  std::erase_if(base, [&](const std::string& variable) {
    if (name_of(variable) != name) return false;
    if (!found) value = value_of(variable);
    return found = true;
  });
  return value;
}

// A library of ours, with more hooks or fewer, by any of its names: two in one process would record
// twice.
bool is_ours(const std::string& path, const std::string& library) {
  constexpr std::string_view kNames[] = {"libfathom.so",           "libfathom_heap.so",
                                         "libpfinterpose.so",      "libpfinterpose_heap.so",
                                         "libdftracer_preload.so", "libdftracer_preload_dbg.so"};
  if (path == library) return true;
  return dir_name(path) == dir_name(library) &&
         std::ranges::find(kNames, base_name(path)) != std::end(kNames);
}

// Ours first, or left out. The loader separates by spaces and colons alike.
std::string preload_list(const std::string& library, const std::string& others, bool ours) {
  std::string list = ours ? library : "";
  std::size_t at = 0;
  while ((at = others.find_first_not_of(" :", at)) != std::string::npos) {
    const std::size_t end = std::min(others.find_first_of(" :", at), others.size());
    const std::string other = others.substr(at, end - at);
    if (!is_ours(other, library)) list += (list.empty() ? "" : ":") + other;
    at = end;
  }
  return list;
}

// AddressSanitizer refuses to run where another library was loaded before its own. That check is
// about libraries that replace malloc, which ours does not: its run-time library comes right behind
// ours, and sees every call; those that layer heap counts, too. The word stands last, so that the
// program's own options hold; programs without AddressSanitizer do not read it.
std::string sanitizer_options(const std::string& own) {
  constexpr std::string_view kWord = "verify_asan_link_order=0";
  if (own.empty()) return std::string(kWord);
  return own.ends_with(kWord) ? own : own + ":" + std::string(kWord);
}

// Whom NVTX hands the program's ranges to. Another tool that is named there keeps its place.
void set_nvtx_library(std::vector<std::string>& base, const std::string& library) {
  constexpr std::string_view kName = "NVTX_INJECTION64_PATH";
  const std::string own = take(base, kName);
  const bool other = !own.empty() && !is_ours(own, library);
  base.push_back(std::string(kName) + "=" + (other ? own : library));
}

bool tells(std::string_view name) {
  if (std::ranges::find(kTelling, name) != std::end(kTelling)) return true;
  return std::ranges::any_of(kTellingPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::vector<std::string> plain_environment(std::vector<std::string> base) {
  for (const std::string_view name : kOwn) take(base, name);
  for (const std::string_view name : python_variable_names()) take(base, name);
  return base;
}

std::vector<std::string> guest_environment(std::vector<std::string> base,
                                           const GuestSettings& settings) {
  base = plain_environment(std::move(base));
  const std::string others = take(base, "LD_PRELOAD");
  const std::string list = preload_list(settings.library, others, settings.preloads);
  if (!list.empty()) base.push_back("LD_PRELOAD=" + list);
  base.push_back("ASAN_OPTIONS=" + sanitizer_options(take(base, "ASAN_OPTIONS")));
  base.push_back("FATHOM_OUT=" + settings.directory);
  base.push_back("FATHOM_LAYERS=" + join(settings.layers, ","));
  if (std::ranges::find(settings.layers, "app") != settings.layers.end())
    set_nvtx_library(base, settings.library);
  if (!settings.calls.empty()) base.push_back("FATHOM_CALLS=" + join(settings.calls, ","));
  for (const std::string& variable : settings.further) {
    take(base, name_of(variable));
    base.push_back(variable);
  }
  return base;
}

std::map<std::string, std::string> telling_environment(const std::vector<std::string>& base) {
  std::map<std::string, std::string> telling;
  for (const std::string& variable : base) {
    if (tells(name_of(variable)))
      telling.emplace(name_of(variable), escape_invalid_utf8(value_of(variable)));
  }
  return telling;
}

// The library reads it in the same way.
bool wants_no_command() {
  std::vector<std::string> variables = own_environment();
  const std::string value = take(variables, name_of(kNoCommand));
  return !value.empty() && value != "0";
}

std::string filters_variable() {
  const Result<std::string> status = read_file("/proc/self/status");
  if (!status) return "";
  std::string count = "0";
  for (const std::string_view line : split(*status, '\n')) {
    if (line.starts_with("Seccomp:") && trim(line.substr(8)) != "0" && count == "0") count = "1";
    if (line.starts_with("Seccomp_filters:")) count = trim(line.substr(16));
  }
  return count == "0" ? "" : "FATHOM_FILTERS=" + count;
}

std::string alnair_folder() {
  for (const std::string& variable : own_environment()) {
    if (name_of(variable) == "PFLOG") return std::string(value_of(variable));
  }
  return "";
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) variables.emplace_back(*at);
  return variables;
}

}  // namespace fathom::session
