// SPDX-License-Identifier: MIT
#include "symbols/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "symbols/elf_code.h"
#include "symbols/elf_file.h"
#include "symbols/testing/compiled.h"

namespace fathom::symbols {
namespace {

using symbols::testing::fresh_folder;
using symbols::testing::run;

// Lines of the text are lines of the file.
constexpr char kSource[] = R"(#include <stdlib.h>
static inline __attribute__((always_inline)) int innermost(volatile int* p) {
  return *p + 1;
}
inline __attribute__((always_inline)) int middle(volatile int* p) {
  return innermost(p) * 2;
}
namespace shop {
template <class T> __attribute__((noinline)) T outer(volatile T* p) {
  return middle(p) + 3;
}
}
static __attribute__((noinline)) int hidden(volatile int* p) { return *p * 5; }
extern "C" __attribute__((noinline)) int seen(volatile int* p) { return *p * 7; }
int main(int count, char**) {
  volatile int value = count;
  void* volatile memory = malloc(value);
  free(memory);
  return shop::outer<int>(&value) + hidden(&value) + seen(&value);
}
)";

ModuleId id_of(const std::string& path, const std::string& build_id = "") {
  return {.path = path, .build_id = build_id, .root = "", .segments = {}};
}

// Every function that the module names at any offset, as "outer/inlined/inlined".
std::vector<std::string> chains_of(Module& module) {
  std::vector<std::string> chains;
  for (const Segment& segment : module.segments()) {
    for (std::uint64_t at = 0; segment.code && at < segment.size; ++at) {
      std::string chain;
      for (const Frame& frame : module.frames_at(segment.offset + at))
        chain += (chain.empty() ? "" : "/") + std::string(frame.function);
      if (chains.empty() || chains.back() != chain) chains.push_back(chain);
    }
  }
  return chains;
}

std::uint64_t offset_of(const std::string& path, const std::string& name) {
  const Result<std::vector<CodePlace>> places = functions_of(path);
  for (const CodePlace& place : places.value())
    if (place.name == name) return place.offset;
  ADD_FAILURE() << name << " is not in " << path;
  return 0;
}

TEST(Module, InlinedFunctionsAreFramesOfTheirOwn) {
  const std::string folder = fresh_folder("inlined");
  for (const std::string flags : {"-O2 -g", "-O2 -gdwarf-4", "-O2 -g -no-pie", "-O2 -g -gz"}) {
    FATHOM_COMPILE(folder, "program", kSource, flags);
    Result<Module> module = Module::open(id_of(folder + "/program"));
    ASSERT_TRUE(module) << module.error().message;
    EXPECT_TRUE(module->has_lines());
    EXPECT_EQ(module->names(), Module::Names::kOwn);
    const std::vector<std::string> chains = chains_of(*module);
    const std::string whole = "int shop::outer<int>(int volatile*)/middle(int volatile*)/innermost";
    EXPECT_THAT(chains, ::testing::Contains(whole)) << flags;
    EXPECT_THAT(chains, ::testing::Contains("hidden(int volatile*)")) << flags;
    EXPECT_THAT(chains, ::testing::Contains("main")) << flags;
  }
}

TEST(Module, LinesAreThoseOfTheCallsAndOfThePlace) {
  const std::string folder = fresh_folder("lines");
  FATHOM_COMPILE(folder, "program", kSource, "-O2 -g");
  Module module = Module::open(id_of(folder + "/program")).value();
  const std::uint64_t size = read_file(folder + "/program").value().size();
  bool found = false;
  for (std::uint64_t at = 0; at < size && !found; ++at) {
    const auto frames = module.frames_at(at);
    if (frames.size() != 3) continue;
    found = true;
    EXPECT_EQ(frames[0].line, 10);  // where middle is called,
    EXPECT_EQ(frames[1].line, 6);   // innermost,
    EXPECT_EQ(frames[2].line, 3);   // and what is there
    for (const Frame& frame : frames) EXPECT_EQ(base_name(frame.file), "program.cc");
    EXPECT_FALSE(frames[0].inlined);
    EXPECT_TRUE(frames[1].inlined && frames[2].inlined);
    EXPECT_EQ(module.frames_at(at).data(), frames.data()) << "answered from memory";
  }
  EXPECT_TRUE(found);
}

TEST(Module, ADebugFileIsFoundByBuildIdOrLink) {
  const std::string folder = fresh_folder("debug");
  FATHOM_COMPILE(folder, "program", kSource, "-O2 -g -Wl,--build-id=0x0123456789abcdef");
  ASSERT_TRUE(run(folder,
                  "objcopy --only-keep-debug program program.debug && strip program -o stripped && "
                  "mkdir -p given/.build-id/01 linked/.debug && "
                  "cp program.debug given/.build-id/01/23456789abcdef.debug && "
                  "objcopy --add-gnu-debuglink=program.debug stripped linked/program && "
                  "cp program.debug linked/.debug"));
  const std::string hidden = "hidden(int volatile*)";
  Module stripped = Module::open(id_of(folder + "/stripped")).value();
  EXPECT_THAT(chains_of(stripped), ::testing::Not(::testing::Contains(hidden)));
  EXPECT_EQ(stripped.build_id(), std::string("\x01\x23\x45\x67\x89\xab\xcd\xef"));

  Module given = Module::open(id_of(folder + "/stripped"), {{folder + "/given"}}).value();
  EXPECT_THAT(chains_of(given), ::testing::Contains(hidden));
  EXPECT_EQ(given.names(), Module::Names::kDebugFile);
  EXPECT_TRUE(given.has_lines());

  Module linked = Module::open(id_of(folder + "/linked/program")).value();
  EXPECT_THAT(chains_of(linked), ::testing::Contains(hidden));
  EXPECT_EQ(linked.names(), Module::Names::kDebugFile);

  // On another machine, where the program is not: by its id, and its segments as they were.
  ModuleId gone = id_of("/no/such/program", stripped.build_id());
  gone.segments = stripped.segments();
  Module kept = Module::open(gone, {{folder + "/given"}}).value();
  EXPECT_THAT(chains_of(kept), ::testing::Contains(hidden));
}

TEST(Module, ALinkWithoutBuildIdsIsProvedByItsChecksum) {
  const std::string folder = fresh_folder("checksum");
  FATHOM_COMPILE(folder, "program", kSource, "-O2 -g -Wl,--build-id=none");
  ASSERT_TRUE(run(folder,
                  "objcopy --only-keep-debug program p.debug && strip program && "
                  "objcopy --add-gnu-debuglink=p.debug program"));
  const std::string hidden = "hidden(int volatile*)";
  Module linked = Module::open(id_of(folder + "/program")).value();
  EXPECT_THAT(chains_of(linked), ::testing::Contains(hidden));
  ASSERT_TRUE(run(folder, "printf x >> p.debug"));
  Module other = Module::open(id_of(folder + "/program")).value();
  EXPECT_THAT(chains_of(other), ::testing::Not(::testing::Contains(hidden)));
}

TEST(Module, MiniDebuginfoNamesFunctionsOfAStrippedProgram) {
  const std::string folder = fresh_folder("mini");
  FATHOM_COMPILE(folder, "program", kSource, "-O2");
  if (!run(folder,
           "objcopy --only-keep-debug program mini && xz -k mini && strip program && "
           "objcopy --add-section .gnu_debugdata=mini.xz program"))
    GTEST_SKIP() << read_file(folder + "/log").value();
  Module module = Module::open(id_of(folder + "/program")).value();
  EXPECT_EQ(module.names(), Module::Names::kMiniDebug);
  EXPECT_THAT(chains_of(module), ::testing::Contains("hidden(int volatile*)"));
  EXPECT_THAT(chains_of(module), ::testing::Contains("int shop::outer<int>(int volatile*)"));
}

TEST(Module, WithoutAnyTableWhatIsExportedHasNames) {
  const std::string folder = fresh_folder("dynamic");
  FATHOM_COMPILE(folder, "program", kSource, "-O2 -fPIC -shared -s");
  Module module = Module::open(id_of(folder + "/program")).value();
  EXPECT_EQ(module.names(), Module::Names::kDynamic);
  EXPECT_THAT(chains_of(module), ::testing::Contains("seen"));
  EXPECT_THAT(chains_of(module), ::testing::Not(::testing::Contains("hidden(int volatile*)")));
}

TEST(Module, WhereAFunctionWithoutANameBeginsIsKnown) {
  const std::string folder = fresh_folder("bounds");
  FATHOM_COMPILE(folder, "program", kSource, "-O2 -g");
  ASSERT_TRUE(run(folder, "strip -o stripped program")) << read_file(folder + "/log").value();
  const std::uint64_t offset = offset_of(folder + "/program", "main");
  Module module = Module::open(id_of(folder + "/stripped")).value();
  const std::uint64_t address = module.address_of(offset).value();
  EXPECT_TRUE(module.frames_at(offset).empty());
  EXPECT_EQ(module.begin_of_function(address), address);
  EXPECT_EQ(module.begin_of_function(address + 1), address);
  EXPECT_NE(module.begin_of_function(address - 1), address);
  EXPECT_EQ(module.begin_of_function(1), std::nullopt);
}

TEST(Module, AFileThatIsNotTheOneThatRanGivesNoName) {
  const std::string folder = fresh_folder("replaced");
  FATHOM_COMPILE(folder, "program", kSource, "-O2 -g -Wl,--build-id=0x11111111");
  EXPECT_TRUE(Module::open(id_of(folder + "/program", "\x11\x11\x11\x11")));
  const Result<Module> other = Module::open(id_of(folder + "/program", "\x11\x11\x11\x12"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kNotFound);
  EXPECT_THAT(other.error().message, ::testing::HasSubstr("another file"));
}

TEST(Module, ASymbolHoldsAsFarAsItsSizeAndALabelToTheNext) {
  const std::string folder = fresh_folder("sizes");
  constexpr char kAssembler[] = R"(asm(R"x(
.section .text.mine,"ax"
.globl sized
.type sized, @function
sized: .skip 16, 0x90
.size sized, 8
.globl label
label: .skip 8, 0x90
.globl behind
.type behind, @function
behind: .skip 4, 0x90
.size behind, 4
.skip 4, 0x90
)x");
int main() {}
)";
  FATHOM_COMPILE(folder, "program", kAssembler, "-O2");
  const std::string path = folder + "/program";
  Module module = Module::open(id_of(path)).value();
  const std::uint64_t begin = offset_of(path, "sized");
  const auto name_at = [&](std::uint64_t into) {
    const auto frames = module.frames_at(begin + into);
    return frames.empty() ? std::string("-") : std::string(frames[0].function);
  };
  EXPECT_EQ(name_at(0), "sized");
  EXPECT_EQ(name_at(7), "sized");
  EXPECT_EQ(name_at(8), "-");
  EXPECT_EQ(name_at(16), "label");
  EXPECT_EQ(name_at(23), "label");
  EXPECT_EQ(name_at(24), "behind");
  EXPECT_EQ(name_at(28), "-");
}

TEST(Module, StubsAreNamedByWhatTheyCall) {
  const std::string folder = fresh_folder("stubs");
  for (const std::string flags :
       {"-O2 -Wl,-z,lazy", "-O2 -Wl,-z,now", "-O2 -fcf-protection=full"}) {
    FATHOM_COMPILE(folder, "program", kSource, flags);
    Module module = Module::open(id_of(folder + "/program")).value();
    EXPECT_THAT(chains_of(module), ::testing::Contains("malloc@plt")) << flags;
    EXPECT_THAT(chains_of(module), ::testing::Contains("free@plt")) << flags;
  }
}

TEST(Module, DamagedFilesEndInAnErrorOrWithoutNames) {
  const std::string folder = fresh_folder("damaged");
  FATHOM_COMPILE(folder, "program", kSource, "-O2 -g");
  const std::string whole = read_file(folder + "/program").value();
  for (std::size_t i = 0; i < 200; ++i) {
    std::string bytes = whole;
    if (i % 2 == 0) bytes.resize(whole.size() * i / 200);
    for (std::size_t at = i; i % 2 == 1 && at < bytes.size(); at += 97 + i)
      bytes[at] = static_cast<char>(bytes[at] + 1 + static_cast<char>(i));
    Result<Module> module = Module::open_image(bytes, "damaged");
    if (!module) continue;
    for (std::uint64_t at = 0; at < 0x5000; at += 16) (void)module->frames_at_address(at);
  }
}

TEST(Module, WhatIsNoFileIsNotOpened) {
  const std::string folder = fresh_folder("fifo");
  ASSERT_TRUE(run(folder, "mkfifo fifo"));
  EXPECT_EQ(Module::open(id_of(folder + "/fifo")).error().code, Code::kNotFound);
  EXPECT_EQ(Module::open(id_of(folder + "/none")).error().code, Code::kNotFound);
  EXPECT_EQ(Module::open(id_of("/etc/passwd")).error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace fathom::symbols
