// SPDX-License-Identifier: MIT
// A whole recording made of fuzzed files: opened, and packed where the first byte says so. Nothing
// outside of it is written.
//
// Behind the first byte come pieces: which file (one byte), how long (two), and its content. Files
// that begin with a fixed header get a sound one first, which the content overlays from `offset`
// on; logs get their content as entries with a right checksum.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "trace/chunk_log.h"
#include "trace/recording.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

namespace fs = std::filesystem;

class Pieces {
 public:
  Pieces(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}
  [[nodiscard]] bool done() const { return left_.empty(); }
  std::uint8_t byte() { return done() ? std::uint8_t{0} : static_cast<std::uint8_t>(take(1)[0]); }
  std::string piece() {
    const std::size_t length = byte() + std::size_t{byte()} * 256;
    return std::string(take(length));
  }

 private:
  std::string_view take(std::size_t length) {
    const std::string_view taken = left_.substr(0, length);
    left_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view left_;
};

void write(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A sound file with `content` laid over it somewhere.
void overlay(const std::string& path, std::string_view content, std::uint8_t place) {
  const Result<std::string> there = read_file(path);
  std::string file = there ? *there : "";
  const std::size_t at = std::min<std::size_t>(place * std::size_t{8}, file.size());
  file.resize(std::max(file.size(), at + content.size()));
  std::memcpy(file.data() + at, content.data(), content.size());
  write(path, file);
}

void append_entry(const std::string& path, const std::string& content, std::uint8_t kind) {
  const Result<Directory> spool = Directory::open(std::string(dir_name(path)));
  if (!spool) return;
  Result<ChunkLog> log = ChunkLog::open(*spool, std::string(base_name(path)));
  if (!log) return;
  (void)log->append({static_cast<EntryKind>(1 + kind % 3),
                     {1, kind, 0},
                     fnv1a(testing::kSchemaText),
                     bytes_of(content)});
}

void add_schema(const std::string& spool, const std::string& content) {
  char name[32];
  std::snprintf(name, sizeof name, "/schema-%016llx",
                static_cast<unsigned long long>(fnv1a(content)));
  write(spool + name, content);
}

void add_segments(testing::SpoolBuilder& spool, const std::string& content, std::uint8_t state) {
  const std::string_view part = std::string_view(content).substr(0, 4032);
  testing::SegmentSpec segment;
  segment.bytes.assign(part.begin(), part.end());
  segment.state = state % 4U;
  segment.owner_pid = testing::SpoolBuilder::kDeadPid;
  segment.in_call = state / 4U;
  (void)spool.add_pool("1-a-1", {segment});
}

void add_file(testing::SpoolBuilder& builder, const std::string& recording, Pieces& pieces) {
  const std::uint8_t which = pieces.byte();
  const std::uint8_t detail = pieces.byte();
  const std::string content = pieces.piece();
  const std::string& spool = builder.directory();
  switch (which % 11) {
    case 0:
      return write(recording + "/manifest.json", content);
    case 1:
      return overlay(spool + "/run.header", content, detail);
    case 2:
      return write(spool + "/run.header", content);
    case 3:
      return add_schema(spool, content);
    case 4:
      return add_segments(builder, content, detail);
    case 5:
      return overlay(spool + "/1-a-1.pool", content, detail);
    case 6:
      return append_entry(spool + "/drained-" + std::to_string(detail % 2) + ".log", content,
                          detail / 2);
    case 7:
      return append_entry(spool + "/definitions.log", content, detail);
    case 8:
      return overlay(spool + "/drained-0.log", content, detail);
    case 9:
      return write(recording + "/events-0.parquet", content);
    default:
      return write(recording + "/summary.parquet", content);
  }
}

void require_nothing_beside(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() != "r.fathom") std::abort();
  }
}

}  // namespace
}  // namespace fathom::trace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  const testing::TempDir folder;
  const std::string recording = folder.path() + "/r.fathom";
  testing::SpoolBuilder builder(recording);
  Pieces pieces(data, size);
  const bool pack = pieces.byte() % 8 == 7;
  while (!pieces.done()) add_file(builder, recording, pieces);
  (void)Recording::open(recording);
  if (pack) {
    (void)recover(recording);
    (void)Recording::open(recording);
  }
  require_nothing_beside(folder.path());
  return 0;
}
