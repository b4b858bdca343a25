// SPDX-License-Identifier: MIT
// What a process asked DFTracer for: which file, and what goes into it (docs/dftracer.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "render/export/dftracer_rules.h"
#include "render/export/event_stream.h"

namespace fathom::render {

// What a process asked for: lines `key=value`, as the drop-in's in-process half writes them.
struct DftracerSettings {
  int generation = 2;
  std::string log;     // the prefix of the file's name, or with `named` in generation 1 all of it
  bool named = false;  // by the program itself
  bool asked = false;  // the program began it, not a variable alone
  bool preloaded = false;
  bool metadata = false;
  bool compression = true;
  std::string metric = "US";           // the unit of times
  std::int64_t unit_ns = 1000;         // the same
  bool aggregation = false;            // lines are sums of events
  std::int64_t interval_ms = 1000;     // that they are sums over
  DftracerRules rules;                 // which events
  std::vector<std::string> data_dirs;  // prefixes; empty: all files
  ExportNumber pid;                    // the program's own number instead of its pid

  // Whether an event goes into the file.
  [[nodiscard]] bool wants(const ExportEvent& event) const;
};
[[nodiscard]] DftracerSettings parse_dftracer_settings(std::string_view text);

struct DftracerProcess {
  std::string host;
  std::int64_t pid = 0;
  std::int64_t ppid = 0;
  bool forked = false;
  std::int64_t start_us = 0;  // since 1970
  std::string command;        // argv joined by spaces
  std::string cwd;
};

// Data directories as the process that runs in `cwd` means them.
void make_absolute(DftracerSettings& settings, const std::string& cwd);

// The name of a program by the rules of a generation.
[[nodiscard]] std::string dftracer_program(int generation, std::string_view command);

[[nodiscard]] std::string dftracer_log_path(const DftracerSettings& settings,
                                            const DftracerProcess& process);

}  // namespace fathom::render
