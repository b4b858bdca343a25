// SPDX-License-Identifier: MIT
// A recording made of fuzzed files, again and again in one place: a sound one, of which each piece
// of the input changes a file. Files that begin with a fixed header get bytes laid over a sound
// one; logs get entries with a right checksum.
#pragma once

#include <cstdio>
#include <string>

#include "base/testing/fuzzed_files.h"
#include "trace/spool/chunk_log.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace::testing {

using fathom::testing::Canary;
using fathom::testing::Pieces;
using fathom::testing::put_bytes;
using fathom::testing::put_file;
using fathom::testing::replace;

// Owns its folder. The canary beside it must survive every reader: a fuzzer that reaches out of the
// recording has found something.
class FuzzedRecording {
 public:
  explicit FuzzedRecording(const std::string& folder)
      : canary_(folder + "/outside"), path_(folder + "/r.fathom") {}

  [[nodiscard]] const std::string& path() const { return path_; }

  void make(Pieces& pieces) {
    (void)remove_tree(path_);
    SpoolBuilder builder(path_);
    spool_ = builder.directory();
    add_pool(builder, "", FATHOM_SEGMENT_FULL);
    while (!pieces.done()) change(builder, pieces);
  }

  void check_canary() const { canary_.check(); }

 private:
  [[nodiscard]] std::string name(std::uint8_t which) const {
    constexpr const char* kNames[] = {
        "spool/run.header",    "spool/definitions.log", "spool/drained-0.log",
        "spool/drained-1.log", "spool/carry-0",         "spool/lock",
        "spool/publish.lock",  "spool/1-a-0.pool",      "spool",
        "manifest.json",       "events-0.parquet",      "events-1.parquet",
        "summary.parquet",     "processes.parquet",     "spool/2-a-0.pool",
        ".spool-packed"};
    return path_ + "/" + kNames[which % std::size(kNames)];
  }

  void change(SpoolBuilder& builder, Pieces& pieces) {
    const std::uint8_t how = pieces.byte();
    const std::uint8_t detail = pieces.byte();
    switch (how % 8) {
      case 0:
        return put_file(name(detail), pieces.piece());
      case 1: {
        const std::size_t place = pieces.number();
        return put_bytes(name(detail), pieces.piece(), place);
      }
      case 2:
        return fathom::testing::cut(name(detail), pieces.number());
      case 3:
        return replace(name(detail), pieces.byte(), canary_);
      case 4:
        return add_schema(pieces.piece());
      case 5:
        return add_pool(builder, pieces.piece(), detail);
      case 6:
        return append_entry("drained-" + std::to_string(detail % 2) + ".log", pieces.piece(),
                            detail / 2);
      default:
        return append_entry("definitions.log", pieces.piece(), detail);
    }
  }

  void add_schema(std::string_view content) const {
    char name[32];
    std::snprintf(name, sizeof name, "/schema-%016llx",
                  static_cast<unsigned long long>(fnv1a(content)));
    put_file(spool_ + name, content);
  }

  // The records of a small program, and behind them those of the input.
  static void add_pool(SpoolBuilder& builder, std::string_view content, std::uint8_t state) {
    if (!fathom::testing::is_plain_directory(builder.directory())) return;
    constexpr std::uint64_t kKey = 0x77;
    SegmentSpec segment{small_program(builder, kKey, SpoolBuilder::kDeadPid).bytes(), state % 4U,
                        SpoolBuilder::kDeadPid, kKey};
    const std::size_t room = 4096 - FATHOM_SEGMENT_HEADER_SIZE - segment.bytes.size();
    content = content.substr(0, room);
    segment.bytes.insert(segment.bytes.end(), content.begin(), content.end());
    segment.in_call = state / 4U;
    (void)builder.add_pool("1-a-0", {segment});
  }

  void append_entry(const std::string& file, std::string_view content, std::uint8_t kind) const {
    const Result<Directory> spool = Directory::open_beneath(spool_);
    if (!spool) return;
    Result<ChunkLog> log = ChunkLog::open(*spool, file);
    if (!log) return;
    (void)log->append({static_cast<EntryKind>(1 + kind % 5),
                       {1, kind, 0},
                       fnv1a(kSchemaText),
                       {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()}});
  }

  Canary canary_;
  std::string path_;
  std::string spool_;
};

}  // namespace fathom::trace::testing
