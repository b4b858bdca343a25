// SPDX-License-Identifier: MIT
// Decides whether a path is one of source code before it opens anything, and looks again at what
// was opened.
#include "base/source_text.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::size_t kLargestFile = std::size_t{8} << 20;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kLongestLine = 200;

constexpr std::string_view kEndings[] = {
    ".c",   ".cc",  ".cpp", ".cxx", ".c++",  ".h",   ".hh",    ".hpp", ".hxx", ".inl", ".ipp",
    ".tcc", ".inc", ".cu",  ".cuh", ".py",   ".pyx", ".rs",    ".go",  ".s",   ".S",   ".asm",
    ".f",   ".f90", ".F90", ".f95", ".java", ".js",  ".mjs",   ".ts",  ".m",   ".mm",  ".d",
    ".zig", ".nim", ".jl",  ".rb",  ".cs",   ".kt",  ".swift", ".hs",  ".ml",  ".lua", ".pl"};

bool may_be_source(std::string_view path) {
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos) return false;
  for (const std::string_view step : split(path, '/')) {
    if (step == "..") return false;
  }
  for (const std::string_view place : {"/proc/", "/sys/", "/dev/"}) {
    if (path.starts_with(place)) return false;
  }
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return path.ends_with(end); });
}

// At most so many bytes, not within a character.
std::string_view cut(std::string_view line) {
  if (line.size() <= kLongestLine) return line;
  std::size_t at = 0;
  while (at < kLongestLine) {
    const std::size_t next = at + code_point_at(line, at).length;
    if (next > kLongestLine) break;
    at = next;
  }
  return line.substr(0, at);
}

}  // namespace

std::optional<std::string> SourceText::read(const std::string& path) {
  if (!may_be_source(path)) return {};
  Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat facts {};
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size > kLargestFile || bytes_ + size > kMostBytes) return {};
  const std::int64_t time = facts.st_mtim.tv_sec * kNsPerSecond + facts.st_mtim.tv_nsec;
  if (until_ns_ > 0 && time > until_ns_) {
    ++changed_;
    return {};
  }
  Result<std::string> text = File::adopt(std::move(fd), path).read_range(0, size);
  if (!text || text->find('\0') != std::string::npos) return {};
  bytes_ += size;
  return *std::move(text);
}

const SourceText::Source* SourceText::find(const std::string& path) {
  const auto [found, fresh] = files_.try_emplace(path);
  if (fresh) {
    Source& source = found->second;
    source.text = read(path).value_or("");
    source.lines = split(source.text, '\n');
  }
  return &found->second;
}

std::optional<std::string> SourceText::line(const std::string& path, std::int64_t number) {
  if (number < 1) return {};
  const Source* const source = find(path);
  if (source->text.empty() || static_cast<std::size_t>(number) > source->lines.size()) return {};
  return std::string(cut(trim(source->lines[static_cast<std::size_t>(number) - 1])));
}

}  // namespace fathom
