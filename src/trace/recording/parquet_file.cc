// SPDX-License-Identifier: MIT
// Checks of Parquet files that need no database: name, magic, footer. Files are held open and given
// to DuckDB by descriptor, so that a packer cannot remove them meanwhile.
#include "trace/recording/parquet_file.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <utility>

namespace fathom::trace {
namespace {

constexpr std::string_view kSuffix = ".parquet";
constexpr std::uint32_t kLargestFooter = 64U << 20;  // it is read into memory
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

std::string parquet_damage(const File& file) {
  const Result<std::uint64_t> size = file.size();
  if (!size) return size.error().message;
  if (*size < 12) return "cut off";
  char head[4] = {};
  char tail[8] = {};
  const auto begin = file.pread_some(std::as_writable_bytes(std::span(head)), 0);
  const auto end = file.pread_some(std::as_writable_bytes(std::span(tail)), *size - sizeof tail);
  if (!begin || !end) return "cannot be read";
  if (std::memcmp(head, kMark, sizeof kMark) != 0) return "not a Parquet file";
  if (std::memcmp(tail + 4, kMark, sizeof kMark) != 0) return "its end is missing";
  std::uint32_t footer = 0;
  std::memcpy(&footer, tail, sizeof footer);
  return footer > kLargestFooter || footer > *size - 12 ? "its footer is damaged" : "";
}

std::string parquet_damage(const Directory& directory, const std::string& name) {
  const Result<File> file = directory.read(name);
  return file ? parquet_damage(*file) : file.error().message;
}

std::vector<std::uint64_t> parquet_parts(const Directory& directory, std::string_view table) {
  std::vector<std::uint64_t> parts;
  const Result<std::vector<std::string>> names = directory.names();
  if (!names) return parts;
  for (const std::string& name : *names) {
    const std::optional<ParquetName> parsed = parse_parquet_name(name);
    if (parsed && parsed->table == table && parsed->part) parts.push_back(*parsed->part);
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

namespace {

// Counts the descriptors that are held for databases, in this process.
std::atomic<std::uint64_t>& held_count() {
  static std::atomic<std::uint64_t> count;
  return count;
}

class HeldFile {
 public:
  explicit HeldFile(File file) : file_(std::move(file)) { held_count()++; }
  ~HeldFile() { held_count()--; }
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

 private:
  File file_;
};

bool may_hold_another() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  return held_count() < limit.rlim_cur / 2;
}

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace

DataFile held_file(File file, std::string path) {
  const std::string source = path_of(file.fd());
  return {std::move(path), source, std::make_shared<HeldFile>(std::move(file))};
}

Result<DataFile> hold(File file, const Directory& directory, const std::string& name) {
  std::string path = directory.path_of(name);
  const bool has_proc = ::access(path_of(file.fd()).c_str(), F_OK) == 0;
  if (has_proc && may_hold_another()) return held_file(std::move(file), std::move(path));
  if (!directory.is_guarded()) {
    return Error{Code::kDenied,
                 directory.path() + " has more files than this process may hold open, and others " +
                     "can exchange them",
                 "raise the limit (ulimit -n), or copy the recording into a directory of yours"};
  }
  if (!has_proc || !may_hold_another()) return DataFile{path, path, nullptr};
  const std::string source = join_path(path_of(directory.fd()), name);
  return DataFile{std::move(path), source, std::make_shared<Directory>(directory)};
}

}  // namespace fathom::trace
