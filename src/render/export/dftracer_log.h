// SPDX-License-Identifier: MIT
// The file that DFTracer writes for one process, in the layout of its generations 1 (1.0.3: numbers
// as texts, names as they are) and 2 (2.2.0: numbers, names behind hashes), byte for byte where
// scripts look (docs/dftracer.md). `fathom export --format pfw` writes that of 2.0.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "render/export/dftracer_settings.h"
#include "render/export/dftracer_sums.h"
#include "render/export/event_stream.h"

namespace fathom::render {

class JsonFields;

// How a file begins: in place of one from an earlier run, behind what an earlier writer of this run
// wrote, or as one that was not there.
enum class DftracerBegin : std::uint8_t { kAnew, kGoesOn, kOnlyNew };

// How far a file has come, for a writer that goes on in it.
struct DftracerMark {
  std::int64_t ids = 0;   // lines that bear a number
  std::int64_t last = 0;  // when the last of their calls ended, in the unit of the file
  bool changed = false;   // since the file was last complete
};

// One thread at a time. An Error means that the file could not be written; the text is kept for the
// next flush().
class DftracerLog {
 public:
  // `start_ns` is the date of ts 0. `mark` is where a writer before came to.
  DftracerLog(DftracerSettings settings, DftracerProcess process, std::int64_t start_ns,
              DftracerBegin begin, DftracerMark mark = {});

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const DftracerSettings& settings() const { return settings_; }
  // Whether there is, or will be, a file: not of a process that did nothing that was asked for.
  [[nodiscard]] bool has_file() const;
  [[nodiscard]] DftracerMark mark() const { return {id_, last_, changed_}; }

  // Events on files that nobody asked for are left out.
  Status add(const ExportEvent& event);
  // A fact that the program told; told again, or as an event before, it is not written again.
  void add_fact(std::string_view key, std::string_view value);
  // What was added is in the file afterwards.
  Status flush();
  // The file is complete afterwards. `in_order`: the process said that it ends, at `end_ns` since
  // 1970; 0: it did not say when.
  Status complete(bool in_order, std::int64_t end_ns = 0);

 private:
  void begin();
  Status begin_file();
  void add_start();
  void add_end();
  void begin_line(std::string_view name, std::string_view category, int type, std::int64_t tid,
                  std::int64_t ts, std::int64_t dur);
  void end_line();
  void add_origin(JsonFields& args, const ExportNumber& depth) const;
  void add_metadata(std::string_view kind, std::string_view name, std::string_view value,
                    std::int64_t tid);
  void add_told(const ExportEvent& event);
  const std::string& hash(std::string_view kind, std::string_view name, std::int64_t tid);
  void add_args(const ExportEvent& event);
  [[nodiscard]] bool adds_up(const ExportEvent& event, std::int64_t ts, std::int64_t dur) const;
  void add_to_sums(const ExportEvent& event, std::int64_t tid, std::int64_t ts, std::int64_t dur);
  void write_sums();
  [[nodiscard]] std::int64_t in_units(std::int64_t ns) const;
  void add_call(const ExportEvent& event);

  DftracerSettings settings_;
  DftracerProcess process_;
  std::int64_t start_ns_;
  DftracerBegin how_;
  std::string path_;
  std::string program_;
  std::string text_;
  std::string host_hash_;
  bool begun_ = false;    // there is something in the text or in the file
  bool written_ = false;  // this process's file was opened
  bool changed_;          // since the last complete()
  std::int64_t id_;
  std::int64_t last_;
  std::unordered_map<std::string, std::string> hashes_;  // by kind and name
  std::set<std::pair<std::string, std::string>> facts_;
  DftracerSums sums_;  // where lines are sums: those that are not in the text yet
};

}  // namespace fathom::render
