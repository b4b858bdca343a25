// SPDX-License-Identifier: MIT
// What viewers would otherwise show wrongly: events that overlap, programs before an exec, machines
// that gave away the same number, arguments that bear the name of a column.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <string>
#include <vector>

#include "render/export/anonymous_stream.h"
#include "render/testing/export_rows.h"

namespace fathom::render {
namespace {

using testing::event;
using testing::ExportTest;
using testing::FakeStream;

// How often a text stands in another one.
std::size_t times(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++found;
  return found;
}

TEST_F(ExportTest, ChromeHasATrackForWhatOverlaps) {
  FakeStream stream;
  stream.event_rows = {event(0, 100, "app", "outer"), event(10, 90, "posix", "inner"),
                       event(90, 50, "sched", "over"), event(120, 10, "sched", "in it"),
                       event(140, 10, "app", "later")};
  const std::string text = exported("chrome", stream);
  for (const char* name : {"outer", "inner", "later"})
    EXPECT_NE(text.find("\"" + std::string(name) + "\",\"cat\""), std::string::npos) << text;
  EXPECT_EQ(times(text, R"("pid":7,"tid":8,)"), 4U) << text;
  EXPECT_EQ(
      times(text, R"("name":"over","cat":"sched","ts":0.090,"dur":0.050,"pid":7,"tid":1073741824)"),
      1U);
  EXPECT_EQ(times(text, R"("tid":1073741824,"args":{"name":"thread 8, sched"}})"), 1U) << text;
}

TEST_F(ExportTest, ChromeHasATrackForEachStreamOfADevice) {
  FakeStream stream;
  for (const std::int64_t number : {1, 2, 1}) {
    ExportEvent work = event(10, 5, "gpu", "kernel");
    work.tid.reset();
    work.device = 0;
    work.stream = number;
    stream.event_rows.push_back(work);
  }
  stream.event_rows[2].dur = 20;  // overlaps with the first
  const std::string text = exported("chrome", stream);
  EXPECT_EQ(times(text, R"("name":"GPU 0, stream 1")"), 2U) << text;
  EXPECT_EQ(times(text, R"("name":"GPU 0, stream 2")"), 1U) << text;
}

TEST_F(ExportTest, AnArgumentThatBearsAColumnsName) {
  FakeStream stream;
  ExportEvent read = event(0, 5, "posix", "read");
  const ExportArg args[] = {{"bytes", "mine"}, {"fhash", "no"}, {"other", "\"bytes\":"}};
  read.bytes = 10;
  read.file = "/x";
  read.args = args;
  stream.event_rows = {read};
  EXPECT_NE(exported("chrome", stream).find(R"("bytes":10,"arg bytes":"mine","fhash":"no",)"),
            std::string::npos);
  const std::string pfw = exported("pfw", stream);
  EXPECT_EQ(times(pfw, R"("bytes":)"), 1U) << pfw;
  EXPECT_EQ(times(pfw, R"("arg bytes":"mine","arg fhash":"no")"), 1U) << pfw;
  EXPECT_EQ(times(exported("perfetto", stream), "arg bytes"), 1U);
}

// A shell that forks is the shell, and then becomes what it executes.
class ProgramsTest : public ExportTest {
 protected:
  void SetUp() override {
    ExportTest::SetUp();
    ExportProcess process;
    process.host = "vm";
    process.pid = 7;
    process.name = "sort";
    stream_.process_rows = {process};
    stream_.event_rows = {event(0, 10, "posix", "dup2"), event(20, 30, "posix", "read"),
                          event(60, 10, "posix", "read")};
    stream_.event_rows[0].program = "sh";
    ExportSample sample;
    sample.host = "vm";
    sample.pid = 7;
    sample.tid = 8;
    sample.event = "cycles";
    sample.weight = 1;
    stream_.sample_rows = {sample, sample};
    stream_.sample_rows[0].program = "sh";
  }
  FakeStream stream_;
};

TEST_F(ProgramsTest, StacksAreTheProgramsThatMadeThem) {
  EXPECT_EQ(exported("collapsed", stream_, "", {.weight = StackWeight::kCalls}),
            "sort;read [posix] 40\nsh;dup2 [posix] 10\n");
  stream_.event_rows.clear();
  EXPECT_EQ(exported("collapsed", stream_), "sort 1\nsh 1\n");
}

TEST_F(ProgramsTest, SpeedscopeHasAProfileForEach) {
  const std::string text = exported("speedscope", stream_);
  for (const char* name : {"sh (7), thread 8", "sort (7), thread 8", "sh (7), thread 8, cycles",
                           "sort (7), thread 8, cycles"})
    EXPECT_EQ(times(text, "\"name\":\"" + std::string(name) + "\""), 1U) << name << text;
}

TEST_F(ProgramsTest, TimeLinesSayWhichItWas) {
  EXPECT_EQ(times(exported("chrome", stream_), R"("args":{"program":"sh"})"), 1U);
  EXPECT_EQ(times(exported("firefox", stream_), R"("program":"sh")"), 1U);
  EXPECT_EQ(times(exported("perfetto", stream_), "program"), 1U);
}

TEST_F(ProgramsTest, AnonymousOnesToo) {
  AnonymousStream hidden(stream_, "key");
  std::set<std::string> names;
  const auto note = [&](const auto& row) -> Status {
    names.emplace(row.program);
    return {};
  };
  ASSERT_TRUE(hidden.events(EventOrder::kAny, note));
  ASSERT_TRUE(hidden.samples(note));
  Anonymizer one("key");
  EXPECT_EQ(names, (std::set<std::string>{"", std::string(one.word("sh"))}));
}

TEST_F(ExportTest, WordsOfOurOwnStayInAnonymousRows) {
  FakeStream stream;
  const ExportArg args[] = {
      {"memory", "device"}, {"grid", "4x2x1"}, {"kernel", "_Z3addv"}, {"to", "x"}};
  stream.event_rows = {event(0, 1, "cuda", "cuMemcpy"), event(0, 1, "app", "step")};
  for (ExportEvent& row : stream.event_rows) row.args = args;
  AnonymousStream hidden(stream, "key");
  Anonymizer names("key");
  std::vector<std::string> got;
  ASSERT_TRUE(hidden.events(EventOrder::kAny, [&](const ExportEvent& row) -> Status {
    for (const auto& [key, value] : row.args) got.emplace_back(value);
    return {};
  }));
  std::vector<std::string> wanted = {"device", "4x2x1", "_Z3addv"};
  for (const char* word : {"x", "device", "4x2x1", "_Z3addv", "x"})
    wanted.emplace_back(names.word(word));
  EXPECT_EQ(got, wanted);
}

TEST_F(ExportTest, AnonymousTablesKeepFunctionsAlone) {
  FakeStream stream;
  AnonymousStream hidden(stream, "key");
  Anonymizer names("key");
  const auto cells = [&] {
    std::vector<std::string> texts;
    EXPECT_TRUE(hidden.table([&](const Table& rows) -> Status {
      for (const Value& cell : rows.rows.at(0)) {
        if (const auto* map = std::get_if<Object>(&cell.data))
          texts.push_back(std::get<std::string>(map->at(0).second.data));
        else
          texts.push_back(std::get<std::string>(cell.data));
      }
      return {};
    }));
    return texts;
  };
  const auto text = [](const char* word) { return Value(std::string(word)); };
  const Object args = {{"memory", text("device")}};
  stream.rows.columns = {{"layer"}, {"name"}, {"args"}};
  stream.rows.rows = {{text("cuda"), text("cuMemcpy"), Value(args)}};
  EXPECT_EQ(cells(), (std::vector<std::string>{"cuda", "cuMemcpy", "device"}));
  stream.rows.columns = {{"tid"}, {"name"}, {"meta"}};  // of threads
  stream.rows.rows = {{text("8"), text("alice"), Value(args)}};
  EXPECT_EQ(cells(), (std::vector<std::string>{"8", std::string(names.word("alice")),
                                               std::string(names.word("device"))}));
}

TEST_F(ExportTest, TwoMachinesThatGaveAwayTheSamePid) {
  FakeStream stream;
  for (const char* host : {"vm", "other"}) {
    ExportProcess process;
    process.host = host;
    process.pid = 7;
    process.name = "work";
    stream.process_rows.push_back(process);
  }
  stream.event_rows = {event(0, 5, "posix", "read"), event(0, 5, "posix", "read")};
  stream.event_rows[1].host = "other";
  const std::string text = exported("chrome", stream);
  EXPECT_EQ(times(text, R"("pid":7,"tid":8)"), 1U) << text;
  EXPECT_EQ(times(text, R"("pid":8388608,"tid":8)"), 1U) << text;
  EXPECT_EQ(times(text, "\"name\":\"work (7 on other)\""), 1U) << text;
  EXPECT_EQ(times(exported("perfetto", stream), "work (7 on other)"), 1U);
}

TEST_F(ExportTest, FirefoxTellsMachinesApart) {
  FakeStream stream;
  stream.event_rows = {event(0, 5, "posix", "read")};
  for (const char* host : {"vm", "other"}) {
    ExportCounter counter;
    counter.host = host;
    counter.pid = 7;
    counter.name = "rss";
    counter.value = 1;
    stream.counter_rows.push_back(counter);
  }
  const std::string text = exported("firefox", stream);
  EXPECT_EQ(times(text, R"("mainThreadIndex":0)"), 1U) << text;
  EXPECT_EQ(times(text, R"("mainThreadIndex":1)"), 1U) << text;
  // A thread and a counter of each.
  EXPECT_EQ(times(text, R"("pid":"7")"), 2U) << text;
  EXPECT_EQ(times(text, R"("pid":"8388608")"), 2U) << text;
  EXPECT_EQ(times(text, " (7 on other)"), 1U) << text;
}

// Mapping and name of each frame of a Perfetto trace, by the numbers that stand for them.
std::set<std::pair<std::uint64_t, std::uint64_t>> frames_of(const std::string& trace) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> found;
  protozero::pbf_reader packets(trace);
  while (packets.next(1)) {
    protozero::pbf_reader packet = packets.get_message();
    while (packet.next(12)) {
      protozero::pbf_reader interned = packet.get_message();
      while (interned.next(6)) {
        protozero::pbf_reader frame = interned.get_message();
        std::pair<std::uint64_t, std::uint64_t> one;
        while (frame.next()) {
          if (frame.tag() == 2) {
            one.first = frame.get_uint64();
          } else if (frame.tag() == 3) {
            one.second = frame.get_uint64();
          } else {
            frame.skip();
          }
        }
        found.insert(one);
      }
    }
  }
  return found;
}

TEST_F(ExportTest, PerfettoKnowsAFunctionOfTwoModulesTwice) {
  FakeStream stream;
  ExportFrame one;
  one.function = "copy";
  one.file = "copy.h";
  one.line = 3;
  one.module = "liba.so";
  ExportFrame two = one;
  two.module = "libb.so";
  const ExportFrame frames[] = {one, two};
  ExportSample sample;
  sample.event = "cycles";
  sample.frames = frames;
  stream.sample_rows = {sample};
  using Frames = std::set<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(frames_of(exported("perfetto", stream)), (Frames{{1, 1}, {1, 2}}));
}

}  // namespace
}  // namespace fathom::render
