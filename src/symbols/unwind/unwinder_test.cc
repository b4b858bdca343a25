// SPDX-License-Identifier: MIT
// Stacks of real programs: they stop themselves at a known place, and leave their registers, their
// stack and what they have mapped, as a profiler would see it.
#include "symbols/unwind/unwinder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "symbols/byte_reader.h"
#include "symbols/module.h"
#include "symbols/testing/compiled.h"
#include "symbols/vdso.h"

namespace fathom::symbols {
namespace {

using symbols::testing::fresh_folder;

// main -> first -> second -> again (a number of times) -> leaf, which stops. The first argument
// says by which way, the second how many times, the third how many bytes of the stack are copied.
constexpr char kSource[] = R"(
#include <alloca.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
static char* stack_end;
static size_t most_bytes;
static volatile int sink;
static void stopped(int, siginfo_t*, void* context) {
  const mcontext_t& at = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                       REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  uint64_t words[18] = {16};
  for (int i = 0; i < 16; ++i) words[1 + i] = static_cast<uint64_t>(at.gregs[order[i]]);
  words[17] = static_cast<uint64_t>(at.gregs[REG_RIP]);
  uint64_t sp = words[8];
#else
  uint64_t words[34] = {32};
  memcpy(words + 1, at.regs, 31 * 8);
  words[32] = at.sp;
  words[33] = at.pc;
  uint64_t sp = at.sp;
#endif
  uint64_t size = reinterpret_cast<uint64_t>(stack_end) - sp;
  if (size > most_bytes) size = most_bytes;
  int out = open("dump", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  (void)!write(out, words, sizeof words);
  (void)!write(out, &sp, 8);
  (void)!write(out, &size, 8);
  (void)!write(out, reinterpret_cast<char*>(sp), size);
  int maps = open("/proc/self/maps", O_RDONLY);
  char text[4096];
  for (ssize_t got; (got = read(maps, text, sizeof text)) > 0;) (void)!write(out, text, got);
  _exit(0);
}
__attribute__((noinline)) void leaf() {
#if defined(__x86_64__)
  asm volatile("int3");
#else
  asm volatile("brk #0");
#endif
}
__attribute__((noinline)) int again(int left) {
  if (left > 1) sink = again(left - 1); else leaf();
  return sink + left;
}
__attribute__((noinline)) void by_signal(int) { sink = again(1); sink += 1; }
__attribute__((noinline)) int compare(const void*, const void*) { sink = again(1); return sink; }
__attribute__((noinline)) void interrupted() { raise(SIGUSR1); sink += 2; }
__attribute__((noinline)) void second(const char* way, int times) {
  char* room = static_cast<char*>(alloca(static_cast<size_t>(times) % 100 + 100));
  memset(room, times, 100);
  sink = room[7];
  int numbers[] = {2, 1};
  if (strcmp(way, "call") == 0) sink += again(times);
  if (strcmp(way, "signal") == 0) interrupted();
  if (strcmp(way, "sort") == 0) qsort(numbers, 2, sizeof(int), compare);
  sink += room[times % 100];
}
__attribute__((noinline)) void first(const char* way, int times) { second(way, times); sink += 3; }
int main(int, char** words) {
  char** end = words;
  while (*end) ++end;
  stack_end = reinterpret_cast<char*>(end);
  most_bytes = static_cast<size_t>(atol(words[3]));
  struct sigaction stop = {}, other = {};
  stop.sa_sigaction = stopped;
  stop.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &stop, 0);
  other.sa_handler = by_signal;
  sigaction(SIGUSR1, &other, 0);
  first(words[1], atoi(words[2]));
  return sink;
}
)";

constexpr Machine kMachine =
#if defined(__x86_64__)
    Machine::kX86;
#else
    Machine::kAarch64;
#endif

// Files are read once: a path is of one program in all tests.
Module& module_of(const std::string& path) {
  static std::map<std::string, std::unique_ptr<Module>> modules;
  std::unique_ptr<Module>& module = modules[path];
  if (module) return *module;
  Result<Module> opened =
      path == "[vdso]" ? Module::open_image(vdso_image().value(), path)
                       : Module::open({.path = path, .build_id = "", .root = "", .segments = {}});
  module = std::make_unique<Module>(std::move(opened.value()));
  return *module;
}
FrameTable& table_of(const std::string& path) {
  static std::map<std::string, std::unique_ptr<FrameTable>> tables;
  std::unique_ptr<FrameTable>& table = tables[path];
  if (table) return *table;
  Result<FrameTable> opened =
      path == "[vdso]" ? FrameTable::of_image(vdso_image().value(), path) : FrameTable::open(path);
  table = std::make_unique<FrameTable>(std::move(opened.value()));
  return *table;
}

// What a program left.
class Stopped {
 public:
  explicit Stopped(std::string dump) : bytes_(std::move(dump)) {
    ByteReader reader(bytes_);
    const auto count = reader.number<std::uint64_t>();
    registers_.machine = kMachine;
    for (std::uint64_t i = 0; i < count; ++i) registers_.set(i, reader.number<std::uint64_t>());
    registers_.pc = reader.number<std::uint64_t>();
    stack_.begin = reader.number<std::uint64_t>();
    stack_.bytes = reader.bytes(reader.number<std::uint64_t>());
    maps_ = bytes_.substr(reader.at());
    for (const std::string_view line : split(maps_, '\n')) add_map(std::string(line));
  }

  UnwindEnd unwind() { return symbols::unwind(registers_, stack_, space_, frames_); }
  [[nodiscard]] const std::vector<UnwoundFrame>& frames() const { return frames_; }

  // Functions, innermost first; those of `program` by the names of another file that has them.
  std::vector<std::string> names(const std::string& program, const std::string& named) {
    std::vector<std::string> names;
    for (const UnwoundFrame& frame : frames_) {
      std::string name = "?";
      for (const Map& map : mapped_) {
        if (frame.place() < map.begin || frame.place() >= map.end || map.path.empty()) continue;
        const std::string& path = map.path == program ? named : map.path;
        const auto found = module_of(path).frames_at(frame.place() - map.begin + map.offset);
        if (!found.empty()) name = found.front().function;
      }
      names.push_back(name);
    }
    return names;
  }

 private:
  struct Map {
    std::uint64_t begin = 0, end = 0, offset = 0;
    std::string path;
  };

  void add_map(const std::string& line) {
    Map map;
    char rights[8] = {};
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %n", &map.begin, &map.end, rights,
                    &map.offset, &path_at) < 4 ||
        rights[2] != 'x')
      return;
    const std::string path = line.substr(static_cast<std::size_t>(path_at));
    if (path != "[vdso]" && !path.starts_with('/')) return;
    const std::uint64_t own = module_of(path).address_of(map.offset).value_or(0);
    space_.add(map.begin, map.end, own, &table_of(path));
    map.path = path;
    mapped_.push_back(map);
  }

  std::string bytes_, maps_;
  Registers registers_;
  StackCopy stack_;
  AddressSpace space_;
  std::vector<UnwoundFrame> frames_;
  std::vector<Map> mapped_;
};

struct Case {
  const char* name;
  const char* flags;
  const char* after;  // makes `program`, which runs, of `named`
};
constexpr char kStrip[] = "strip -o program named";
constexpr char kCopy[] = "cp named program";
// Its header says that there are no sections.
constexpr char kWithoutSections[] =
    "cp named program && "
    "printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=program bs=1 seek=40 conv=notrunc && "
    "printf '\\0\\0\\0\\0' | dd of=program bs=1 seek=60 conv=notrunc";
constexpr Case kCases[] = {
    {"plain", "-O2 -fomit-frame-pointer", kCopy},
    {"stripped", "-O2 -fomit-frame-pointer", kStrip},
    {"without_sections", "-O2 -fomit-frame-pointer", kWithoutSections},
    {"fixed", "-O2 -no-pie", kStrip},
    {"static", "-O2 -static", kStrip},
    {"static_pie", "-O2 -static-pie", kCopy},
    {"unoptimized", "-O0 -g", kCopy},
    {"frame_pointers", "-O0 -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions",
     kCopy},
    {"debug_frame",
     "-O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions "
     "-fomit-frame-pointer",
     kCopy},
};

// A program that was compiled once, and run in several ways.
class UnwinderOf : public ::testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] bool make() {
    folder_ = fresh_folder(std::string("unwind_") + GetParam().name);
    return testing::compile(folder_, "named", kSource, GetParam().flags) &&
           testing::run(folder_, GetParam().after);
  }
  std::string dump_of(const std::string& words) {
    EXPECT_TRUE(testing::run(folder_, "ulimit -s unlimited; ./program " + words));
    return read_file(folder_ + "/dump").value();
  }
  std::vector<std::string> names(Stopped& stopped) {
    const std::string program = real_path(folder_ + "/program").value();
    return stopped.names(program, folder_ + "/named");
  }
  void calls_up_to_the_first_function();
  void through_a_signal_frame();
  void through_a_library();
  void ten_thousand_frames();
  void a_copy_that_ends_is_said();
  std::string folder_;
};

// The names in this order, perhaps with others between them.
bool has_in_order(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  auto next = wanted.begin();
  for (const std::string& name : names)
    if (next != wanted.end() && name == *next) ++next;
  return next == wanted.end();
}

const std::vector<std::string> kCallers = {"second(char const*, int)", "first(char const*, int)",
                                           "main"};

void UnwinderOf::calls_up_to_the_first_function() {
  const std::string dump = dump_of("call 3 65536");
  Stopped stopped(dump);
  const UnwindEnd end = stopped.unwind();
  std::vector<std::string> found = names(stopped);
  std::vector<std::string> wanted = {"leaf()", "again(int)", "again(int)", "again(int)"};
  wanted.insert(wanted.end(), kCallers.begin(), kCallers.end());
  ASSERT_GE(found.size(), wanted.size()) << ::testing::PrintToString(found);
  EXPECT_EQ(end, UnwindEnd::kWhole) << ::testing::PrintToString(found);
  found.resize(wanted.size());
  EXPECT_EQ(found, wanted);
}

void UnwinderOf::through_a_signal_frame() {
  const std::string dump = dump_of("signal 1 65536");
  Stopped stopped(dump);
  const UnwindEnd end = stopped.unwind();
  const std::vector<std::string> found = names(stopped);
  std::vector<std::string> wanted = {"leaf()", "again(int)", "by_signal(int)", "interrupted()"};
  wanted.insert(wanted.end(), kCallers.begin(), kCallers.end());
  EXPECT_TRUE(has_in_order(found, wanted)) << ::testing::PrintToString(found);
  EXPECT_EQ(end, UnwindEnd::kWhole);
  const auto interrupted = [](const UnwoundFrame& frame) { return !frame.is_return; };
  EXPECT_EQ(std::ranges::count_if(stopped.frames(), interrupted), 2);
}

void UnwinderOf::through_a_library() {
  const std::string dump = dump_of("sort 1 65536");
  Stopped stopped(dump);
  EXPECT_EQ(stopped.unwind(), UnwindEnd::kWhole);
  const std::vector<std::string> found = names(stopped);
  std::vector<std::string> wanted = {"leaf()", "again(int)", "compare(void const*, void const*)"};
  wanted.insert(wanted.end(), kCallers.begin(), kCallers.end());
  EXPECT_TRUE(has_in_order(found, wanted)) << ::testing::PrintToString(found);
}

void UnwinderOf::ten_thousand_frames() {
  const std::string dump = dump_of("call 10000 16000000");
  Stopped stopped(dump);
  EXPECT_EQ(stopped.unwind(), UnwindEnd::kWhole);
  const std::vector<std::string> found = names(stopped);
  EXPECT_EQ(std::ranges::count(found, "again(int)"), 10000);
  EXPECT_TRUE(has_in_order(found, kCallers));
}

void UnwinderOf::a_copy_that_ends_is_said() {
  const std::string dump = dump_of("call 10000 8192");
  Stopped stopped(dump);
  EXPECT_EQ(stopped.unwind(), UnwindEnd::kCut);
  const std::vector<std::string> found = names(stopped);
  EXPECT_GT(found.size(), 30U);
  EXPECT_EQ(found.front(), "leaf()");
  EXPECT_EQ(std::ranges::count(found, "again(int)"), static_cast<std::ptrdiff_t>(found.size() - 1));
}

TEST_P(UnwinderOf, EveryWay) {
  if (!make()) GTEST_SKIP() << read_file(folder_ + "/log").value();
  calls_up_to_the_first_function();
  through_a_signal_frame();
  through_a_library();
  ten_thousand_frames();
  a_copy_that_ends_is_said();
}

INSTANTIATE_TEST_SUITE_P(Programs, UnwinderOf, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Unwinder, EndsWhateverTheStackHolds) {
  const std::string folder = fresh_folder("unwind_damaged");
  FATHOM_COMPILE(folder, "program", kSource, "-O2");
  ASSERT_TRUE(testing::run(folder, "./program call 50 65536"));
  const std::string dump = read_file(folder + "/dump").value();
  for (std::size_t i = 1; i < 60; ++i) {
    std::string damaged = dump;
    const std::size_t stack = 3 * 8 + 17 * 8;
    for (std::size_t at = stack + i; at + 4096 < damaged.size() && at < stack + 4096; at += 7 * i)
      damaged[at] = damaged[at + 8];
    Stopped stopped(damaged);
    (void)stopped.unwind();
    EXPECT_LT(stopped.frames().size(), 16384U);
  }
}

TEST(Unwinder, WithoutAnythingMappedThereIsTheFirstFrame) {
  Registers registers;
  registers.pc = 0x1000;
  registers.set(registers.sp_number(), 0x8000);
  const std::string words(64, '\x10');
  std::vector<UnwoundFrame> frames;
  EXPECT_EQ(unwind(registers, {0x8000, words}, AddressSpace(), frames), UnwindEnd::kNoRules);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].place(), 0x1000U);
}

}  // namespace
}  // namespace fathom::symbols
