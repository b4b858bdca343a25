// SPDX-License-Identifier: MIT
// Checks the --gpu-… options before the program starts and turns them into variables, because the
// library cannot report a usage error.
#include "session/gpu_options.h"

#include <string_view>

#include "base/files.h"

namespace fathom::session {
namespace {

constexpr std::int64_t kMostSample = 1'000'000;

Status check_word(std::string_view option, std::string_view word, std::string_view usual,
                  std::string_view other) {
  if (word.empty() || word == usual || word == other) return {};
  return usage_error(std::string(option) + " takes " + std::string(usual) + " or " +
                     std::string(other) + ", not '" + std::string(word) + "'");
}

Result<std::string> library_path(const std::string& path) {
  if (path.empty() || path == "none") return path;
  FATHOM_ASSIGN(std::string whole, absolute_path(path));
  if (!path_exists(whole))
    return usage_error("--cupti: there is no file '" + path + "'",
                       "name a file like libcupti.so.13, or none");
  return whole;
}

}  // namespace

bool GpuOptions::any() const {
  return waits || !graphs.empty() || !range.empty() || !cupti.empty() || sample != 0;
}

Result<std::vector<std::string>> gpu_variables(const GpuOptions& options) {
  std::vector<std::string> variables;
  const auto add = [&variables](std::string_view name, const std::string& value) {
    if (!value.empty()) variables.push_back(std::string(name) + "=" + value);
  };
  FATHOM_TRY(check_word("--gpu-graphs", options.graphs, "nodes", "whole"));
  FATHOM_TRY(check_word("--gpu-range", options.range, "all", "profiler"));
  if (options.sample < 0 || options.sample > kMostSample)
    return usage_error("--gpu-sample takes a number from 1 to " + std::to_string(kMostSample));
  FATHOM_ASSIGN(const std::string cupti, library_path(options.cupti));
  add("FATHOM_GPU_SYNC", options.waits ? "1" : "");
  add("FATHOM_GPU_GRAPHS", options.graphs);
  add("FATHOM_GPU_RANGE", options.range);
  add("FATHOM_GPU_SAMPLE", options.sample != 0 ? std::to_string(options.sample) : "");
  add("FATHOM_CUPTI", cupti);
  return variables;
}

}  // namespace fathom::session
