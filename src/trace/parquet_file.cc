// SPDX-License-Identifier: MIT
#include "trace/parquet_file.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/files.h"

namespace fathom::trace {
namespace {

constexpr std::string_view kSuffix = ".parquet";
constexpr char kMark[] = {'P', 'A', 'R', '1'};

}  // namespace

std::optional<ParquetName> parse_parquet_name(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return ParquetName{std::string(name), std::nullopt};
  std::uint64_t part = 0;
  const std::string_view digits = name.substr(dash + 1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), part);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  return ParquetName{std::string(name.substr(0, dash)), part};
}

std::string parquet_name(std::string_view table, std::uint64_t part) {
  return std::string(table) + "-" + std::to_string(part) + std::string(kSuffix);
}

std::string parquet_name(std::string_view table) {
  return std::string(table) + std::string(kSuffix);
}

std::string parquet_damage(const std::string& path) {
  const Result<File> file = File::open(path, O_RDONLY);
  if (!file) return file.error().message;
  const Result<std::uint64_t> size = file->size();
  if (!size) return size.error().message;
  if (*size < 12) return "cut off";
  char head[4] = {};
  char tail[8] = {};
  const auto begin = file->pread_some(std::as_writable_bytes(std::span(head)), 0);
  const auto end = file->pread_some(std::as_writable_bytes(std::span(tail)), *size - sizeof tail);
  if (!begin || !end) return "cannot be read";
  if (std::memcmp(head, kMark, sizeof kMark) != 0) return "not a Parquet file";
  if (std::memcmp(tail + 4, kMark, sizeof kMark) != 0) return "its end is missing";
  std::uint32_t footer = 0;
  std::memcpy(&footer, tail, sizeof footer);
  return footer > *size - 12 ? "its footer is damaged" : "";
}

std::vector<std::uint64_t> parquet_parts(const std::string& directory, std::string_view table) {
  std::vector<std::uint64_t> parts;
  const Result<std::vector<std::string>> names = list_dir(directory);
  if (!names) return parts;
  for (const std::string& name : *names) {
    const std::optional<ParquetName> parsed = parse_parquet_name(name);
    if (parsed && parsed->table == table && parsed->part) parts.push_back(*parsed->part);
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

}  // namespace fathom::trace
