// SPDX-License-Identifier: MIT
// Puts paths into DuckDB's messages. Parquet files are given to it as /proc/self/fd/N, so that a
// file which is replaced meanwhile stays the one that was checked; its errors then name a number
// that means nothing to anybody.
#include "analysis/source_names.h"

#include <cctype>
#include <string>
#include <string_view>

namespace fathom::analysis {
namespace {

// Not /proc/self/fd/12 in /proc/self/fd/123.
void replace_name(std::string& text, std::string_view source, std::string_view path) {
  for (std::size_t at = text.find(source); at != std::string::npos;
       at = text.find(source, at + 1)) {
    const std::size_t end = at + source.size();
    if (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) continue;
    text.replace(at, source.size(), path);
  }
}

}  // namespace

Error with_path(Error error, const trace::DataFile& file) {
  replace_name(error.message, file.source, file.path.empty() ? "a temporary file" : file.path);
  return error;
}

Error with_paths(Error error, const std::vector<trace::Part>& parts) {
  constexpr std::string_view kDescriptors = "/proc/self/fd/";
  if (error.message.find(kDescriptors) == std::string::npos) return error;
  for (const trace::Part& part : parts) {
    for (const auto& [table, files] : part.files) {
      for (const trace::DataFile& file : files) error = with_path(std::move(error), file);
    }
  }
  return error;
}

}  // namespace fathom::analysis
