// SPDX-License-Identifier: MIT
// Writes the recording once more as a .pfw.gz under the name that the application set in
// DFTRACER_LOG_FILE. The log is made in a scratch folder and renamed into the results.
#include "containers/dftracer_log.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <vector>

#include "analysis/store.h"
#include "base/files.h"
#include "base/os_error.h"
#include "base/private_files.h"
#include "containers/container_plan.h"
#include "convert/export.h"

namespace fathom::containers {
namespace {

// As the library reads a switch.
bool is_on(std::string_view text) {
  constexpr std::string_view kWords[] = {"1", "true", "on", "yes"};
  const auto same = [](char one, char other) { return std::tolower(one) == other; };
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return std::ranges::equal(text, word, same); });
}

}  // namespace

std::string dftracer_log_name(const Instructions& wanted, const ImageFacts& image) {
  constexpr std::string_view kLog = "DFTRACER_LOG_FILE=";
  constexpr std::string_view kEnable = "DFTRACER_ENABLE=";
  std::string log;
  bool enabled = false;
  for (const std::string& variable : environment_of(wanted, image)) {
    if (variable.starts_with(kLog)) log = variable.substr(kLog.size());
    if (variable.starts_with(kEnable)) enabled = is_on(variable.substr(kEnable.size()));
  }
  const std::string inside = wanted.results + "/";
  if (!enabled || wanted.results.empty() || !log.starts_with(inside)) return "";
  std::string name = log.substr(inside.size());
  // A folder below may be a link by now.
  return name.find('/') != std::string::npos ? "" : name;
}

// rename() does not follow a link that the application left under the name.
Status write_dftracer_log(const std::string& recording, const std::string& name,
                          const std::string& scratch, const std::string& results) {
  FATHOM_ASSIGN(analysis::Store store, analysis::Store::open(recording));
  FATHOM_ASSIGN(const render::ExporterDef* const exporter, render::find_exporter("pfw", ""));
  FATHOM_TRY(make_private_dir(scratch));
  convert::RowFilter filter;
  filter.layers = {"app", "posix", "stdio"};
  Status written =
      convert::Export(store, *exporter).write_each(join_path(scratch, name + ".pfw.gz"), filter);
  const Result<std::vector<std::string>> files = list_dir(scratch);
  for (const std::string& file : files ? *files : std::vector<std::string>()) {
    const std::string target = join_path(results, file);
    if (written && std::rename(join_path(scratch, file).c_str(), target.c_str()) != 0)
      written = os_error(errno, "write " + target);
  }
  FATHOM_TRY(remove_tree(scratch));
  return written;
}

}  // namespace fathom::containers
