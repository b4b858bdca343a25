// SPDX-License-Identifier: MIT
// For tests: writes records, segments, pools and spools as docs/formats/spool.md says,
// independently of the guest.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/host.h"
#include "trace/decode/record_walker.h"
#include "trace/decode/schema.h"
#include "wire/record.h"
#include "wire/spool.h"
#include "wire/varint.h"

namespace fathom::trace::testing {

inline constexpr unsigned kOpen = 32;
inline constexpr unsigned kRead = 33;
inline constexpr unsigned kPread = 34;
inline constexpr unsigned kFread = 35;
inline constexpr unsigned kRename = 36;
inline constexpr unsigned kNamed = 37;   // by its site
inline constexpr unsigned kMalloc = 38;  // calls that are added up
inline constexpr unsigned kFree = 39;
inline constexpr unsigned kCopy = 40;  // of a library with results of its own
inline constexpr unsigned kWork = 41;  // of a device
inline constexpr unsigned kCopyRange = 42;
inline constexpr char kSchemaText[] =
    "32\t3\tposix\topen\topen64\topen\t-\tfd file ret arg:flags:int\n"
    "33\t3\tposix\tread\tread\tread\tbytes,position\tfd file offset size ret\n"
    "34\t3\tposix\tpread\tpread64\tread\tbytes\tfd file offset size ret\n"
    "35\t2\tstdio\tfread\tfread\tread\tbytes,position\tfd file offset size item ret\n"
    "36\t3\tposix\trename\trename\tmetadata\t-\tfd file ret arg:to:path\n"
    "37\t4\tpython\t-\tloop\t-\t-\tsite arg:iterations:int\n"
    "38\t5\theap\tmalloc\tmalloc\tallocate\tbytes\n"
    "39\t5\theap\tfree\tfree\tfree\t-\n"
    "error\tgpu\t2\tNO_MEMORY\n"
    "error\tgpu\t600\t-\n"
    "40\t6\tcuda\tcopy\tcopy_v2\tcopy\tmoves,errors=gpu\tdevice stream size "
    "arg:way:choice:up,down arg:kernel:text arg:grid:extent arg:captured:flag\n"
    "41\t7\tgpu\t-\t-\tkernel\tapart\tlag name correlation device stream bytes\n"
    "42\t3\tposix\tcopy_file_range\tcopy_file_range\tread\tbytes,position\t"
    "fd file offset size ret arg:to:path\n";

// A directory that goes with the object.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fathom-trace-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() { (void)remove_tree(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The records of one chunk.
class RecordWriter {
 public:
  RecordWriter& switch_to(const RunHead& head) {
    put_head(FATHOM_KIND_SWITCH);
    raw(head.key);
    for (const std::uint64_t value : {head.pid, head.tid, head.thread, head.run, head.cursor})
      number(value);
    raw(head.tick);
    end_ = head.tick;
    depth_ = 0;
    return *this;
  }
  RecordWriter& string(std::uint64_t id, std::string_view value) {
    put_head(FATHOM_KIND_STRING);
    number(id);
    return text(value);
  }
  RecordWriter& path(std::uint64_t id, std::uint64_t base, std::string_view value) {
    put_head(FATHOM_KIND_PATH);
    number(id);
    number(base);
    return text(value);
  }
  RecordWriter& site(std::uint64_t id, std::uint64_t name, std::uint64_t category,
                     std::uint64_t file = 0) {
    put_head(FATHOM_KIND_SITE);
    for (const std::uint64_t value : {id, name, category, std::uint64_t{7}, file}) number(value);
    return *this;
  }
  RecordWriter& function_site(std::uint64_t id, std::uint64_t module, std::uint64_t offset) {
    put_head(FATHOM_KIND_FUNCTION_SITE);
    for (const std::uint64_t value : {id, module, offset}) number(value);
    return *this;
  }
  RecordWriter& process(std::uint64_t parent, std::uint64_t pid, std::uint64_t ppid,
                        std::uint64_t limit, std::uint64_t tick, std::uint64_t how) {
    put_head(FATHOM_KIND_PROCESS);
    raw(parent);
    for (const std::uint64_t value : {pid, ppid, limit}) number(value);
    raw(tick);
    number(how);
    return *this;
  }
  RecordWriter& meta(std::uint64_t key, std::uint64_t value) {
    put_head(FATHOM_KIND_META);
    number(key);
    number(value);
    return *this;
  }
  RecordWriter& thread_name(std::uint64_t text) {
    put_head(FATHOM_KIND_THREAD_NAME);
    number(text);
    return *this;
  }
  RecordWriter& arg_int(std::uint64_t depth, std::uint64_t key, std::int64_t value) {
    put_head(FATHOM_KIND_ARG_INT);
    for (const std::uint64_t item : {depth, key, fathom_zigzag(value)}) number(item);
    return *this;
  }
  RecordWriter& arg_double(std::uint64_t depth, std::uint64_t key, double value) {
    put_head(FATHOM_KIND_ARG_DOUBLE);
    number(depth);
    number(key);
    raw(value);
    return *this;
  }
  RecordWriter& arg_text(std::uint64_t depth, std::uint64_t key, std::string_view value) {
    put_head(FATHOM_KIND_ARG_TEXT);
    number(depth);
    number(key);
    return text(value);
  }
  RecordWriter& region(std::uint8_t depth, std::uint64_t begin, std::uint64_t end,
                       std::uint64_t site) {
    timed(FATHOM_KIND_REGION, depth, end);
    number(end - begin);
    number(site);
    return *this;
  }
  RecordWriter& instant(std::uint8_t depth, std::uint64_t end, std::uint64_t site) {
    timed(FATHOM_KIND_INSTANT, depth, end);
    number(site);
    return *this;
  }
  RecordWriter& counter(std::uint64_t end, std::uint64_t site, std::int64_t value) {
    timed(FATHOM_KIND_COUNTER_INT, depth_, end);
    number(site);
    number(fathom_zigzag(value));
    return *this;
  }
  // A call with its fields as they stand behind the times.
  RecordWriter& call(unsigned kind, std::uint8_t depth, std::uint64_t begin, std::uint64_t end,
                     unsigned flags, std::initializer_list<std::uint64_t> fields) {
    timed(kind | flags, depth, end);
    number(end - begin);
    for (const std::uint64_t field : fields) number(field);
    return *this;
  }
  RecordWriter& sums(unsigned kind, const fathom_sums& sums, std::uint8_t padding = 0) {
    put_head(FATHOM_KIND_SUMS);
    raw(static_cast<std::uint16_t>(kind));
    raw(padding);
    bytes_.insert(bytes_.end(), padding, 0);
    raw(sums);
    return *this;
  }
  // A record with an end and numbers: THREAD_END, PROCESS_END, EXEC, EXEC_FAILED, WAITED.
  RecordWriter& note(unsigned kind, std::uint64_t end,
                     std::initializer_list<std::uint64_t> fields = {}) {
    timed(kind, depth_, end);
    for (const std::uint64_t field : fields) number(field);
    return *this;
  }

  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  void put_head(unsigned word) { raw(static_cast<std::uint16_t>(word)); }
  void timed(unsigned word, std::uint8_t depth, std::uint64_t end) {
    const bool changed = depth != depth_;
    put_head(changed ? word | FATHOM_FLAG_DEPTH : word);
    if (changed) raw(depth);
    depth_ = depth;
    number(end - end_);
    end_ = end;
  }
  void number(std::uint64_t value) {
    std::uint8_t buffer[FATHOM_VARINT_SLACK + 8];
    bytes_.insert(bytes_.end(), buffer, fathom_put_varint(buffer, value));
  }
  template <class T>
  void raw(const T& value) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
  }
  RecordWriter& text(std::string_view value) {
    number(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }

  std::vector<std::uint8_t> bytes_;
  std::uint64_t end_ = 0;
  std::uint8_t depth_ = 0;
};

struct SegmentSpec {
  std::vector<std::uint8_t> bytes;
  std::uint32_t state = FATHOM_SEGMENT_FULL;
  std::uint32_t owner_pid = 0;
  std::uint64_t owner_key = 0;
  std::uint32_t generation = 0;
  unsigned in_call = 0;
  std::uint64_t in_call_since = 0;
};

// The spool of a run; its clock is CLOCK_MONOTONIC, its start ten seconds ago or `age_ns`, so that
// ticks of `at(ns)` lie in the past.
class SpoolBuilder {
 public:
  explicit SpoolBuilder(const std::string& recording, bool supervised = false,
                        std::int64_t age_ns = 10'000'000'000)
      : directory_(join_path(recording, "spool")) {
    (void)make_dirs(directory_);
    header_.magic = FATHOM_RUN_MAGIC;
    header_.version = FATHOM_WIRE_VERSION;
    header_.tick_source = FATHOM_TICK_MONOTONIC_NS;
    header_.start_monotonic_ns = static_cast<std::uint64_t>(now_monotonic_ns() - age_ns);
    header_.start_tick = header_.start_monotonic_ns;
    header_.start_realtime_ns = static_cast<std::uint64_t>(now_realtime_ns() - age_ns);
    header_.supervised = supervised ? 1 : 0;
    const HostFacts& here = this_host();
    std::strncpy(header_.boot_id, here.boot_id.c_str(), sizeof header_.boot_id - 1);
    std::strncpy(header_.host, "testhost", sizeof header_.host - 1);
    write_page(header_);
    char name[32];
    std::snprintf(name, sizeof name, "schema-%016llx",
                  static_cast<unsigned long long>(fnv1a(kSchemaText)));
    (void)write_file_atomic(join_path(directory_, name), kSchemaText);
  }

  [[nodiscard]] std::uint64_t at(std::uint64_t ns) const { return header_.start_tick + ns; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const fathom_run_header& header() const { return header_; }
  // As if the processes had counted so many events that found no room.
  void lose(std::uint64_t count) {
    fathom_run_shared shared{};
    shared.losses[FATHOM_SOURCE_POSIX][FATHOM_LOSS_NO_ROOM] = count;
    write_page(header_, shared);
  }
  // The run's page as it is from now on. What header() and at() say stays.
  void write_page(const fathom_run_header& header, const fathom_run_shared& shared = {}) const {
    std::string page(FATHOM_RUN_HEADER_SIZE, '\0');
    std::memcpy(page.data(), &header, sizeof header);
    std::memcpy(page.data() + FATHOM_RUN_SHARED_OFFSET, &shared, sizeof shared);
    (void)write_file_atomic(join_path(directory_, FATHOM_RUN_FILE), page);
  }

  std::string add_pool(const std::string& name, const std::vector<SegmentSpec>& segments,
                       std::uint32_t creator_pid = kDeadPid, std::uint64_t lost = 0,
                       std::uint32_t segment_size = 4096,
                       std::uint32_t version = FATHOM_WIRE_VERSION) {
    fathom_pool_header pool{};
    pool.magic = FATHOM_POOL_MAGIC;
    pool.version = version;
    pool.state = FATHOM_POOL_OPEN;
    pool.segment_size = segment_size;
    pool.segment_count = static_cast<std::uint32_t>(segments.size());
    pool.schema_hash = fnv1a(kSchemaText);
    pool.creator_pid = creator_pid;
    pool.losses[FATHOM_SOURCE_POSIX][FATHOM_LOSS_NO_ROOM] = lost;
    std::string file(FATHOM_POOL_HEADER_SIZE + segments.size() * std::size_t{segment_size}, '\0');
    std::memcpy(file.data(), &pool, sizeof pool);
    for (std::size_t i = 0; i < segments.size(); i++)
      put_segment(file, FATHOM_POOL_HEADER_SIZE + i * segment_size, segments[i], version);
    std::string path = join_path(directory_, name + FATHOM_POOL_SUFFIX);
    (void)write_file_atomic(path, file);
    return path;
  }

  static constexpr std::uint32_t kDeadPid = 2147483000;  // above any pid_max

 private:
  static void put_segment(std::string& file, std::size_t where, const SegmentSpec& spec,
                          std::uint32_t version) {
    fathom_segment segment{};
    const bool owned = spec.state == FATHOM_SEGMENT_OWNED;
    segment.claim = spec.state | (owned ? std::uint64_t{spec.owner_pid} << 32 : 0);
    segment.generation = spec.generation;
    if (version < 3) {
      segment.claim = spec.state | std::uint64_t{spec.generation} << 32;
      segment.generation = spec.owner_pid;
    }
    segment.owner_key = spec.owner_key;
    segment.owner_tid = spec.owner_pid;
    segment.progress =
        (FATHOM_SEGMENT_HEADER_SIZE + spec.bytes.size()) | (std::uint64_t{spec.in_call} << 32);
    segment.in_call_since = spec.in_call_since;
    std::memcpy(file.data() + where, &segment, sizeof segment);
    std::copy(spec.bytes.begin(), spec.bytes.end(),
              file.begin() + static_cast<std::ptrdiff_t>(where + FATHOM_SEGMENT_HEADER_SIZE));
  }

  std::string directory_;
  fathom_run_header header_{};
};

// A small program's records: opens /data/a.bin, reads it three times, renames it, all inside region
// "load", then a counter.
inline RecordWriter small_program(const SpoolBuilder& spool, std::uint64_t key, std::uint64_t pid) {
  RecordWriter w;
  w.switch_to({key, pid, pid, 0, 0, 0, spool.at(1000)});
  w.process(0, pid, 1, 0, spool.at(1000), FATHOM_ATTACH_PRELOAD);
  w.string(1, "exe").string(2, "/usr/bin/prog").meta(1, 2);
  w.string(3, "command").string(4, "prog --fast").meta(3, 4);
  w.path(5, 0, "/data").path(6, 5, "./sub/../a.bin").path(7, 5, "b.bin");
  w.string(8, "load").string(9, "phase").site(10, 8, 9).string(11, "epoch");
  w.call(kOpen, 1, spool.at(2000), spool.at(3000), 0,
         {fathom_zigzag(3), 6, fathom_zigzag(3), fathom_zigzag(0)});
  w.call(kRead, 1, spool.at(4000), spool.at(5000), FATHOM_FLAG_SAME | FATHOM_FLAG_FULL,
         {1 + fathom_zigzag(0), 4096});
  w.call(kRead, 1, spool.at(6000), spool.at(7000), FATHOM_FLAG_SAME,
         {1 + fathom_zigzag(0), 4096, fathom_zigzag(100)});
  w.call(kRead, 1, spool.at(7000), spool.at(7500), FATHOM_FLAG_SAME | FATHOM_FLAG_ERROR,
         {5, 0, 4096});
  w.call(kRename, 1, spool.at(8000), spool.at(9000), 0,
         {fathom_zigzag(-1), 6, fathom_zigzag(0), 7});
  w.arg_int(0, 11, -3);
  w.region(0, spool.at(1500), spool.at(10000), 10);
  w.counter(spool.at(10500), 10, 42);
  w.note(FATHOM_KIND_PROCESS_END, spool.at(11000), {fathom_zigzag(3), 1});
  return w;
}

}  // namespace fathom::trace::testing
