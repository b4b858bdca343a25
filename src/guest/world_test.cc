// SPDX-License-Identifier: MIT
// The world of the other tests (testing/world.h), and what the runtime needs of the parts that are
// not linked here.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "guest/attach.h"
#include "guest/descriptors.h"
#include "guest/intern.h"
#include "guest/pool.h"
#include "guest/schema.h"
#include "guest/scratch.h"
#include "guest/sharing.h"
#include "guest/testing/world.h"
#include "guest/threads.h"
#include "wire/varint.h"

namespace fathom::guest {

uint64_t schema_hash() { return 1; }
const char* schema_text() { return ""; }
size_t schema_length() { return 0; }
bool wake_up(fathom_source) { return false; }
bool in_program_watched() { return guest.live->alive != 0 && tls.outside == 0; }
bool remake_spool() { return false; }
const char* setting(const char* name) { return getenv(name); }
AsMemoryOwner::AsMemoryOwner() : on_(false), lodger_() {}
// NOLINTNEXTLINE(modernize-use-equals-default): the header is the real one's
AsMemoryOwner::~AsMemoryOwner() {}

namespace testing {
namespace {

// The run's page, which forked children share.
fathom_run_header& header = *static_cast<fathom_run_header*>(mmap(
    nullptr, FATHOM_RUN_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
constinit Live live = {};

uint64_t new_key() { return (read_counter() << 22) | static_cast<uint64_t>(guest.pid); }

struct Reader {
  const uint8_t* at;
  const uint8_t* end;
  bool good = true;

  uint64_t number() {
    uint64_t value = 0;
    const uint8_t* next = fathom_get_varint(at, end, &value);
    good = good && next != nullptr;
    at = good ? next : end;
    return value;
  }
  uint64_t raw() {
    uint64_t value = 0;
    good = good && end - at >= 8;
    if (good) std::memcpy(&value, at, 8);
    at = good ? at + 8 : end;
    return value;
  }
  std::string text() {
    const uint64_t length = number();
    good = good && length <= static_cast<uint64_t>(end - at);
    if (!good) return "";
    std::string found(reinterpret_cast<const char*>(at), length);
    at += length;
    return found;
  }
};

void read_switch(Reader& reader, Contents& contents) {
  Run run;
  run.process = reader.raw();
  reader.number();
  reader.number();
  run.thread = reader.number();
  reader.number();
  run.cursor = reader.number();
  reader.raw();
  contents.runs.push_back(run);
}

void read_sums(Reader& reader, Contents& contents) {
  std::pair<uint16_t, fathom_sums> sums{};
  const auto left = static_cast<size_t>(reader.end - reader.at);
  reader.good = left >= 3 && left >= 3 + reader.at[2] + sizeof sums.second;
  if (!reader.good) return;
  std::memcpy(&sums.first, reader.at, 2);
  reader.at += 3 + reader.at[2];
  std::memcpy(&sums.second, reader.at, sizeof sums.second);
  reader.at += sizeof sums.second;
  if (!contents.runs.empty()) contents.runs.back().sums.push_back(sums);
}

void read_segment(Reader reader, Contents& contents) {
  while (reader.good && reader.end - reader.at >= 2) {
    uint16_t head = 0;
    std::memcpy(&head, reader.at, 2);
    reader.at += 2;
    switch (head & FATHOM_KIND_MASK) {
      case FATHOM_KIND_SWITCH:
        read_switch(reader, contents);
        break;
      case FATHOM_KIND_STRING: {
        const uint64_t id = reader.number();
        const std::string text = reader.text();
        // Children of tests number texts of their own.
        if (!contents.runs.empty() && contents.runs.back().process == guest.process_key)
          contents.texts[id] = text;
        break;
      }
      case FATHOM_KIND_PATH:
        reader.number();
        reader.number();
        reader.text();
        break;
      case FATHOM_KIND_THREAD_NAME: {
        const uint64_t id = reader.number();
        if (!contents.runs.empty()) contents.runs.back().names.push_back(id);
        break;
      }
      case FATHOM_KIND_SUMS:
        read_sums(reader, contents);
        break;
      case FATHOM_KIND_THREAD_END:
        if ((head & FATHOM_FLAG_DEPTH) != 0) reader.at++;
        reader.number();
        break;
      default:
        reader.good = false;
    }
  }
  if (!reader.good) contents.damaged = true;
}

void read_pool(const std::filesystem::path& path, Contents& contents) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto* base = reinterpret_cast<const uint8_t*>(bytes.data());
  for (size_t at = FATHOM_POOL_HEADER_SIZE; at + FATHOM_SEGMENT_SIZE <= bytes.size();
       at += FATHOM_SEGMENT_SIZE) {
    fathom_segment segment{};
    std::memcpy(&segment, base + at, sizeof segment);
    const auto used = static_cast<uint32_t>(segment.progress);
    if (used <= FATHOM_SEGMENT_HEADER_SIZE) continue;
    read_segment({base + at + FATHOM_SEGMENT_HEADER_SIZE, base + at + used}, contents);
  }
}

void attach(const std::string& spool, fathom_run_header* run, int pid) {
  std::snprintf(guest.out, kSpoolRoom, "%s", spool.c_str());
  guest.run = run;
  guest.shared = reinterpret_cast<fathom_run_shared*>(reinterpret_cast<uint8_t*>(run) +
                                                      FATHOM_RUN_SHARED_OFFSET);
  guest.live = &live;
  guest.tick_source = run->tick_source;
  guest.pid = pid;
  guest.process_key = new_key();
  ASSERT_TRUE(prepare_names() && prepare_descriptors());
  prepare_threads();
  first_record_of_thread();
  ASSERT_TRUE(make_first_pool());
  guest.attached = true;
  live.alive = 1;
  for (uint8_t& on : live.on) on = 1;
}

class World : public ::testing::Environment {
 public:
  void TearDown() override {
    if (guest.out[0] != 0 && getpid() == owner) std::filesystem::remove_all(guest.out);
  }
  static int owner;
};
int World::owner = getpid();
const ::testing::Environment* const kWorld = ::testing::AddGlobalTestEnvironment(new World);

}  // namespace

void enter_world() {
  if (guest.attached) return;
  std::string pattern = (std::filesystem::temp_directory_path() / "guest-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  // Makers of pools take turns by a lock on it; its page is the mapping above.
  const int run_file = open((pattern + "/" FATHOM_RUN_FILE).c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(run_file, 0);
  close(run_file);
  header.tick_source = FATHOM_TICK_COUNTER;
  attach(pattern, &header, getpid());
}

void enter_spool(const std::string& directory, int creator) {
  ASSERT_FALSE(guest.attached);
  const int fd = open((directory + "/" FATHOM_RUN_FILE).c_str(), O_RDWR | O_CLOEXEC);
  void* const page =
      mmap(nullptr, FATHOM_RUN_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  ASSERT_NE(page, MAP_FAILED);
  attach(directory, static_cast<fathom_run_header*>(page), creator);
  be_thread_of_this_process();
}

void be_thread_of_this_process() {
  first_record_of_thread();
  tls.thread->pid = getpid();
}

void become_child() {
  forget_other_threads();
  forget_makers();
  forget_changes();
  Scratch::forget_all();
  guest.pid = getpid();
  guest.process_key = new_key();
  guest.next_thread = 0;
  inherit_thread();
}

Contents read_spool() {
  Contents contents;
  for (const auto& entry : std::filesystem::directory_iterator(guest.out)) {
    if (entry.path().extension() == FATHOM_POOL_SUFFIX) read_pool(entry.path(), contents);
  }
  return contents;
}

uint64_t losses(unsigned source, unsigned reason) {
  return fathom_loss_count(run_shared(), source, reason);
}

NoMorePools::NoMorePools() { __atomic_store_n(&header.spool_max, 1, __ATOMIC_RELAXED); }
NoMorePools::~NoMorePools() {
  __atomic_store_n(&header.spool_max, 0, __ATOMIC_RELAXED);
  outlast_refusals();
}

void outlast_refusals() {
  constexpr uint64_t kRemembered = 10'000'000;
  const uint64_t until = clock_ns(CLOCK_MONOTONIC_COARSE) + kRemembered;
  while (clock_ns(CLOCK_MONOTONIC_COARSE) < until) usleep(1000);
}

}  // namespace testing
}  // namespace fathom::guest
