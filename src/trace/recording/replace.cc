// SPDX-License-Identifier: MIT
// Before --force removes something it must be a recording, and nothing else may lie in it. A
// manifest.json alone proves nothing, since other programs have files of that name: it must read as
// ours, and every name beside it must be one that Fathom gives (docs/formats/recording.md). Steps
// go through descriptors of directories, so that what was checked is what is removed.
#include "trace/recording/replace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "base/os_error.h"
#include "trace/recording/manifest.h"
#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/spool/in_use.h"
#include "trace/spool/spool.h"
#include "wire/exec.h"

namespace fathom::trace {
namespace {

constexpr char kHint[] = "choose another directory";
constexpr const char* kSpools[] = {kSpoolDirectory, kSpentSpool};

bool is_all_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// "manifest.json" of "manifest.json.0123abcd.tmp": what an atomic write leaves if it is killed.
std::string_view without_draft(std::string_view name) {
  constexpr std::string_view kEnd = ".tmp";
  constexpr std::size_t kDigits = 8;
  if (!name.ends_with(kEnd) || name.size() <= kEnd.size() + kDigits + 1) return name;
  const std::string_view rest = name.substr(0, name.size() - kEnd.size());
  const std::size_t dot = rest.size() - kDigits - 1;
  return rest[dot] == '.' && is_all_of(rest.substr(dot + 1), "0123456789abcdef")
             ? rest.substr(0, dot)
             : name;
}

// The same of "run.header.4711", as processes of the program write.
std::string_view without_pid(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos && is_all_of(name.substr(dot + 1), "0123456789")
             ? name.substr(0, dot)
             : without_draft(name);
}

bool is_table_file(std::string_view name) {
  constexpr std::string_view kTables[] = {kEventsTable,    kCountersTable, kIntervalsTable,
                                          kProcessesTable, kThreadsTable,  kSummaryTable,
                                          kTimelineTable,  kCoverageTable, kInodesTable,
                                          kSamplesTable,   kFramesTable};
  const std::optional<ParquetName> parsed = parse_parquet_name(name);
  return parsed && std::ranges::find(kTables, parsed->table) != std::end(kTables);
}

bool is_spool_file(std::string_view name) {
  constexpr std::string_view kNames[] = {
      FATHOM_RUN_FILE,  kLockFile,         kPublishLock, kDefinitionsLog,       "said-where",
      "collector.lock", "nobody-collects", "last",       FATHOM_UNCOVERED_FILE, "said-settings"};
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kPool = FATHOM_POOL_SUFFIX;
  const auto counted = [&](std::string_view before, std::string_view digits,
                           std::string_view after) {
    return name.size() > before.size() + after.size() && name.starts_with(before) &&
           name.ends_with(after) &&
           is_all_of(name.substr(before.size(), name.size() - before.size() - after.size()),
                     digits);
  };
  return std::ranges::find(kNames, name) != std::end(kNames) || is_table_file(name) ||
         counted("", "0123456789abcdef-", kPool) || counted(FATHOM_SCHEMA_PREFIX, kHex, "") ||
         counted("drained-", kDigits, ".log") || counted("carry-", kDigits, "") ||
         counted("wanted-", kDigits, "") || counted("leaves-", kDigits, "");
}

bool is_spool(std::string_view name) {
  return std::ranges::find(kSpools, name) != std::end(kSpools);
}

// The first name that is not one of ours; "" if all are.
std::string stranger_in_spool(const Directory& spool, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!is_spool_file(without_pid(name)) || spool.has_directory(name)) return name;
  }
  return "";
}

Result<std::string> stranger_in(const Directory& directory) {
  FATHOM_ASSIGN(const std::vector<std::string> names, directory.names());
  for (const std::string& name : names) {
    if (is_spool(name) && directory.has_directory(name)) {
      FATHOM_ASSIGN(const Directory spool, directory.directory(name));
      FATHOM_ASSIGN(const std::vector<std::string> inner, spool.names());
      if (const std::string found = stranger_in_spool(spool, inner); !found.empty())
        return join_path(name, found);
      continue;
    }
    const std::string_view plain = without_draft(name);
    if ((plain != kManifestFile && !is_table_file(plain)) || directory.has_directory(name))
      return name;
  }
  return std::string();
}

bool is_recording(const Directory& directory) {
  constexpr std::size_t kIdDigits = 32;
  const Result<Manifest> manifest = read_manifest(directory);
  if (manifest && manifest->run_id.size() == kIdDigits &&
      is_all_of(manifest->run_id, "0123456789abcdef"))
    return true;
  return std::ranges::any_of(kSpools, [&](const char* name) {
    const Result<Directory> spool = directory.directory(name);
    return spool && Spool::open(*spool).has_value();
  });
}

// The directory that we, and perhaps the program, stand in would be another one of the same name.
bool holds_us(const std::string& path) {
  const Result<std::string> here = real_path(".");
  const Result<std::string> there = real_path(path);
  return here && there && (*here == *there || here->starts_with(join_path(*there, "")));
}

Status clear(const Directory& directory) {
  FATHOM_ASSIGN(const std::vector<std::string> names, directory.names());
  for (const std::string& name : names) {
    if (is_spool(name) && directory.has_directory(name)) {
      FATHOM_ASSIGN(const Directory spool, directory.directory(name));
      FATHOM_ASSIGN(const std::vector<std::string> inner, spool.names());
      for (const std::string& file : inner) (void)spool.remove(file);
      if (::unlinkat(directory.fd(), name.c_str(), AT_REMOVEDIR) != 0)
        return os_error(errno, "remove " + directory.path_of(name));
    } else if (!directory.remove(name)) {
      return os_error(errno, "remove " + directory.path_of(name));
    }
  }
  return {};
}

}  // namespace

Status check_replaceable(const std::string& path) {
  if (const std::string writers = writers_of(path); !writers.empty())
    return Error{Code::kInvalid, path + " " + writers,
                 "wait until it has ended, or choose another directory"};
  const Result<Directory> directory = Directory::open_beneath(path);
  if (!directory) return Error{Code::kInvalid, path + " exists and is not a directory", kHint};
  if (holds_us(path))
    return Error{Code::kInvalid, path + " is the current directory, or above it", kHint};
  FATHOM_ASSIGN(const std::string stranger, stranger_in(*directory));
  if (!stranger.empty())
    return Error{Code::kInvalid, path + " contains " + stranger + ", which Fathom did not make",
                 kHint};
  FATHOM_ASSIGN(const std::vector<std::string> names, directory->names());
  if (names.empty() || is_recording(*directory)) return {};
  return Error{Code::kInvalid, path + " exists and is not a recording", kHint};
}

Status remove_recording(const std::string& path) {
  FATHOM_TRY(check_replaceable(path));
  FATHOM_ASSIGN(const Directory directory, Directory::open_beneath(path));
  FATHOM_TRY(clear(directory));
  if (::rmdir(path.c_str()) != 0) return os_error(errno, "remove " + path);
  return {};
}

}  // namespace fathom::trace
