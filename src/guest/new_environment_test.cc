// SPDX-License-Identifier: MIT
#include "guest/new_environment.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "guest/relative_out.h"
#include "guest/runtime.h"
#include "wire/exec.h"

namespace fathom::guest {
namespace {

const NewProgram kProgram{AT_FDCWD, "/bin/sh", false};

std::vector<std::string> texts(char* const* variables) {
  std::vector<std::string> all;
  for (; *variables != nullptr; variables++) all.emplace_back(*variables);
  return all;
}

class Given {
 public:
  explicit Given(std::vector<std::string> all) : all_(std::move(all)) {
    for (std::string& one : all_) pointers_.push_back(one.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char* const* variables() const { return pointers_.data(); }

 private:
  std::vector<std::string> all_;
  std::vector<char*> pointers_;
};

TEST(NewEnvironment, StaysWhereTheLibraryCanBeLoaded) {
  const std::string library = ::testing::TempDir() + "/libfathom.so";
  std::ofstream(library) << "x";
  const Given given({"A=1", "LD_PRELOAD=" + library, "B=2"});
  const NewEnvironment environment(kProgram, given.variables());
  EXPECT_EQ(environment.flags(), 0U);
  EXPECT_EQ(environment.variables(), given.variables());
}

TEST(NewEnvironment, IsWithoutALibraryThatIsNotThere) {
  std::vector<std::string> many = {"A=1", "LD_PRELOAD=/nowhere/libfathom.so"};
  for (int i = 0; i < 100; i++) many.push_back("V" + std::to_string(i) + "=" + std::to_string(i));
  const Given given(many);
  const NewEnvironment environment(kProgram, given.variables());
  EXPECT_EQ(environment.flags(), unsigned{FATHOM_EXEC_OTHER_ROOT});
  many.erase(many.begin() + 1);
  EXPECT_EQ(texts(environment.variables()), many);
}

TEST(NewEnvironment, KeepsWhatOthersPreload) {
  const Given given({"LD_PRELOAD=/o/a.so /nowhere/libfathom_heap.so::b.so", "A=1"});
  const NewEnvironment environment(kProgram, given.variables());
  EXPECT_EQ(texts(environment.variables()),
            (std::vector<std::string>{"LD_PRELOAD=/o/a.so:b.so", "A=1"}));
}

TEST(NewEnvironment, KnowsOurLibrariesByAllTheirNames) {
  for (const char* name :
       {"libfathom.so", "libfathom_heap.so", "libpfinterpose.so", "libpfinterpose_heap.so",
        "libdftracer.so", "libdftracer_core.so", "libdftracer_core_dbg.so",
        "libdftracer_preload.so", "libdftracer_preload_dbg.so", "libdatacrumbs.so",
        "libdatacrumbs_client.so"}) {
    const Given given({std::string("LD_PRELOAD=/nowhere/") + name, "A=1"});
    const NewEnvironment environment(kProgram, given.variables());
    EXPECT_EQ(texts(environment.variables()), (std::vector<std::string>{"A=1"})) << name;
  }
}

TEST(NewEnvironment, OfOthersIsNotTouched) {
  const Given given({"LD_PRELOAD=/o/a.so", "A=1"});
  const NewEnvironment environment(kProgram, given.variables());
  EXPECT_EQ(environment.flags(), unsigned{FATHOM_EXEC_WITHOUT_LIBRARY});
  EXPECT_EQ(environment.variables(), given.variables());
}

// This process has changed its directory, or the new one will: both belong to one run.
TEST(NewEnvironment, HandsARelativeRunOnAsAnAbsoluteOne) {
  const std::string library = ::testing::TempDir() + "/libfathom.so";
  std::ofstream(library) << "x";
  char spool[] = "/began/here/rel/spool";
  char* const before = guest.out;
  guest.out = spool;
  relative_out = "rel";
  const auto handed_on = [&](const std::vector<std::string>& all) {
    const Given given(all);
    const NewEnvironment environment(kProgram, given.variables());
    return texts(environment.variables());
  };
  using Texts = std::vector<std::string>;
  const std::string preload = "LD_PRELOAD=" + library;
  EXPECT_EQ(handed_on({"A=1", "FATHOM_OUT=rel", preload}),
            (Texts{"FATHOM_OUT=/began/here/rel", "A=1", preload}));
  EXPECT_EQ(handed_on({"FATHOM_OUT=rel"}), (Texts{"FATHOM_OUT=/began/here/rel"}));
  EXPECT_EQ(handed_on({"FATHOM_OUT=other", preload}), (Texts{"FATHOM_OUT=other", preload}));
  EXPECT_EQ(handed_on({"FATHOM_OUT=/rel", preload}), (Texts{"FATHOM_OUT=/rel", preload}));
  guest.out = before;
  relative_out = nullptr;
}

// The kernel refuses them, not we.
TEST(NewEnvironment, ThatIsNowhereIsHandedOn) {
  for (const uintptr_t address : {0, 8, -8}) {
    auto* const nowhere = reinterpret_cast<char* const*>(address);
    const NewEnvironment environment(kProgram, nowhere);
    EXPECT_EQ(environment.variables(), nowhere);
  }
  const Given given({"A=1"});
  char* broken[] = {reinterpret_cast<char*>(8), nullptr};
  const NewEnvironment environment(kProgram, broken);
  EXPECT_EQ(environment.variables(), broken);
}

TEST(NewProgram, IsFoundAsExecvpFindsIt) {
  char room[4352];
  EXPECT_STREQ(found_program({AT_FDCWD, "./sh", true}, room).path, "./sh");
  EXPECT_NE(std::strstr(found_program({AT_FDCWD, "sh", true}, room).path, "/sh"), nullptr);
  EXPECT_EQ(found_program({AT_FDCWD, "no-such-program", true}, room).path, nullptr);
}

TEST(NewProgram, TellsWhetherTheKernelReadThePath) {
  bool read = false;
  EXPECT_EQ(obstacles_in(kProgram, &read), 0u);
  EXPECT_TRUE(read);
  // Where nobody can read, exec says so: nothing of ours may look there.
  constexpr uintptr_t kNowhere = 8;
  EXPECT_EQ(obstacles_in({AT_FDCWD, reinterpret_cast<const char*>(kNowhere), false}, &read), 0u);
  EXPECT_FALSE(read);
}

}  // namespace
}  // namespace fathom::guest
