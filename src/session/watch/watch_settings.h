// SPDX-License-Identifier: MIT
// What a daemon is told to do: by a file in YAML and by the command line, which wins. One list of
// keys serves both.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/source.h"

namespace fathom::session {

// A key of the file, which is an option of the command line, too.
struct SettingKey {
  enum class Kind { kText, kList, kFlag };
  std::string_view name;
  Kind kind;
  std::string_view metavar;
  std::string_view help;
};
std::span<const SettingKey> watch_keys();

// A value, and where somebody wrote it: errors name the place.
struct Setting {
  std::vector<std::string> values;  // one of a text; "true" or "false" of a flag
  std::string where;                // "watch.yaml:3", "--interval"
};
using Settings = std::map<std::string, Setting, std::less<>>;

// kInvalid names the line. DataCrumbs' own files are understood: `user` and `io` as lists of
// functions, `capture_probes`, `system`, `mode`, `file`, `trace_log_dir`, `inclusion_path`,
// `profile.interval_sec`; `name`, `install_dir`, `data_dir` and `trace` mean nothing here. Files
// that are not on this machine are left out, and are values of `absent`.
Result<Settings> parse_watch_settings(std::string_view text, const std::string& where);

// All settings, checked and in the units of the code.
struct WatchOptions {
  std::string output;  // "": named after the time
  std::string socket;
  std::string layers = "syscall";
  std::vector<std::string> wished;  // further layers, if they can be recorded
  bool each_call = false;           // in detail, of every layer
  std::vector<std::string> detail;
  std::vector<std::string> functions, categories, filters;
  bool returns = false;  // of these functions, whatever comes of it
  std::int64_t interval_ns = 1'000'000'000;
  double sample_hz = 99;     // of layer cpu
  std::string sample_event;  // what it samples; "": the CPU's time
  sources::Choice choice;
  std::string whom;                  // the choice in words
  std::vector<std::string> absent;   // files that were named and are not here
  std::vector<std::string> refused;  // why layers that were wished for are not recorded
  std::string pfw;                   // a file for counters in DataCrumbs' layout; "": none
  // The output is a folder of recordings: a new one begins at either limit, 0: at none.
  bool rolls = false;
  std::uint64_t roll_bytes = 0;
  std::int64_t roll_ns = 0;
  // Of those that are complete, what stays; 0: all.
  std::uint64_t keep_bytes = 0;
  std::int64_t keep_ns = 0;
  std::int64_t keep = 0;
  std::optional<gid_t> share;  // a group that may read the recordings
  bool no_command = false;     // arguments of programs are not recorded
  // Of what all share, for one user; 0: a part.
  std::int64_t user_files = 0;
  std::int64_t user_rows = 0;
};
Result<WatchOptions> read_watch_options(const Settings& settings);

}  // namespace fathom::session
