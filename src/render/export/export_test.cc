// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "render/export/byte_sink.h"
#include "render/export/exporter.h"
#include "render/export/json_fields.h"
#include "render/testing/export_rows.h"

namespace fathom::render {
namespace {

using testing::event;
using testing::ExportTest;
using testing::FakeStream;

TEST_F(ExportTest, Chrome) {
  FakeStream stream;
  ExportEvent read = event(1234, 500, "posix", "read");
  const ExportArg args[] = {{"key", "quote\" line\n \xff"}};
  read.category = "read";
  read.file = "/x";
  read.bytes = 10;
  read.error = "EIO";
  read.args = args;
  stream.event_rows = {read, event(2000, 0, "app", "mark")};
  ExportProcess process;
  process.pid = 7;
  process.name = "app";
  stream.process_rows = {process};
  ExportCounter counter;
  counter.ts = 1000;
  counter.pid = 7;
  counter.layer = "resource";
  counter.name = "rss";
  counter.unit = "bytes";
  counter.value = 4096;
  stream.counter_rows = {counter};
  EXPECT_EQ(
      exported("chrome", stream),
      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
      R"({"ph":"M","name":"process_name","pid":7,"tid":7,"args":{"name":"app"}},)"
      "\n"
      R"({"ph":"X","name":"read","cat":"posix,read","ts":1.234,"dur":0.500,"pid":7,"tid":8,)"
      R"("args":{"file":"/x","bytes":10,"error":"EIO","key":"quote\" line\n \\xff"}},)"
      "\n"
      R"({"ph":"X","name":"mark","cat":"app","ts":2,"dur":0,"pid":7,"tid":8,"args":{}},)"
      "\n"
      R"({"ph":"C","name":"rss","cat":"resource","ts":1,"pid":7,"tid":0,"args":{"bytes":4096}})"
      "\n]}\n");
}

TEST_F(ExportTest, EmptyChromeIsStillJson) {
  FakeStream stream;
  EXPECT_EQ(exported("chrome", stream), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
}

TEST_F(ExportTest, PfwInTheLayoutOfDftracer) {
  FakeStream stream;
  ExportEvent read = event(1999, 2, "posix", "open");
  read.entry = "open64";
  read.category = "open";
  read.file = "data/hot.bin";
  read.depth = 0;
  read.ret = 3;
  stream.event_rows = {read};
  EXPECT_EQ(
      exported("pfw", stream),
      "[\n"
      R"({"name":"HH","cat":"dftracer","pid":7,"tid":8,"ph":"M","args":{"hhash":"6882804a826580cd","name":"vm","value":"6882804a826580cd"}})"
      "\n"
      R"({"name":"FH","cat":"dftracer","pid":7,"tid":8,"ph":"M","args":{"hhash":"6882804a826580cd","name":"data/hot.bin","value":"5acb1d0106a59c92"}})"
      "\n"
      R"({"id":1,"name":"open64","cat":"POSIX","pid":7,"tid":8,"ts":1700000000000001,"dur":1,"ph":"X","args":{"hhash":"6882804a826580cd","level":1,"ret":3,"fhash":"5acb1d0106a59c92"}})"
      "\n]\n");
}

TEST_F(ExportTest, PfwItemsOfStdio) {
  FakeStream stream;
  ExportEvent whole = event(0, 0, "stdio", "fread");
  whole.size = 32;
  whole.bytes = 24;
  whole.ret = 3;
  ExportEvent end = event(0, 0, "stdio", "fread");
  end.size = 32;
  end.bytes = 0;
  end.ret = 0;
  ExportEvent odd = event(0, 0, "stdio", "fwrite");
  odd.size = 33;
  odd.bytes = 24;
  odd.ret = 3;
  stream.event_rows = {whole, end, odd};
  const std::string text = exported("pfw", stream);
  EXPECT_NE(text.find(R"("ret":3,"count":4,"size":8)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("ret":0,"count":32,"size":1)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("ret":24,"count":33,"size":1)"), std::string::npos) << text;
}

// A packet's track event, as far as the tests look at it.
struct Slice {
  std::uint64_t time = 0;
  std::int32_t type = 0;
  std::uint64_t track = 0;
};

std::vector<Slice> slices_of(const std::string& trace) {
  std::vector<Slice> slices;
  protozero::pbf_reader packets(trace);
  while (packets.next(1)) {
    protozero::pbf_reader packet = packets.get_message();
    Slice slice;
    while (packet.next()) {
      if (packet.tag() == 8) {
        slice.time = packet.get_uint64();
      } else if (packet.tag() == 11) {
        protozero::pbf_reader event = packet.get_message();
        while (event.next()) {
          if (event.tag() == 9) {
            slice.type = event.get_int32();
          } else if (event.tag() == 11) {
            slice.track = event.get_uint64();
          } else {
            event.skip();
          }
        }
      } else {
        packet.skip();
      }
    }
    if (slice.type != 0) slices.push_back(slice);
  }
  return slices;
}

TEST_F(ExportTest, PerfettoSlicesNest) {
  FakeStream stream;
  stream.event_rows = {event(0, 100, "app", "outer"), event(10, 20, "posix", "a"),
                       event(30, 70, "posix", "b"), event(40, 0, "app", "mark"),
                       event(90, 50, "gpu", "overlaps")};
  const std::vector<Slice> slices = slices_of(exported("perfetto", stream));
  constexpr std::uint64_t kStart = 1700000000000000000;
  struct Want {
    std::uint64_t time;
    std::int32_t type;
    bool main_track;
  };
  const Want want[] = {{0, 1, true},   {10, 1, true},  {30, 2, true},
                       {30, 1, true},  {40, 3, true},  {90, 1, false},
                       {100, 2, true}, {100, 2, true}, {140, 2, false}};
  ASSERT_EQ(slices.size(), std::size(want));
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_EQ(slices[i].time, kStart + want[i].time) << i;
    EXPECT_EQ(slices[i].type, want[i].type) << i;
    EXPECT_EQ(slices[i].track == slices[0].track, want[i].main_track) << i;
  }
}

TEST_F(ExportTest, GzipMembersAreWhole) {
  const std::string path = join_path(root_, "out.gz");
  Result<ByteSink> sink = ByteSink::open(path, true);
  ASSERT_TRUE(sink.has_value());
  std::string all;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(1 << 20, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(sink->write(piece).has_value());
    all += piece;
  }
  ASSERT_TRUE(sink->finish().has_value());
  gzFile file = gzopen(path.c_str(), "rb");
  std::string back(all.size() + 1, '\0');
  const int got = gzread(file, back.data(), static_cast<unsigned>(back.size()));
  gzclose(file);
  back.resize(static_cast<std::size_t>(got));
  EXPECT_TRUE(back == all);
}

TEST_F(ExportTest, NothingIsLeftOfAnUnfinishedFile) {
  {
    Result<ByteSink> sink = ByteSink::open(join_path(root_, "out"), false);
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE(sink->write("half").has_value());
  }
  EXPECT_TRUE(list_dir(root_).value().empty());
  EXPECT_FALSE(ByteSink::open(root_, false).has_value());
  EXPECT_FALSE(ByteSink::open("/nowhere/out", false).has_value());
}

// Its temporary name can be foreseen: somebody may have put a link there.
TEST_F(ExportTest, ALinkInTheWayIsNotFollowed) {
  const std::string out = join_path(root_, "out");
  const std::string other = join_path(root_, "other");
  ASSERT_TRUE(write_file_atomic(other, "theirs").has_value());
  std::filesystem::create_symlink(other, out + ".part-" + std::to_string(::getpid()));
  Result<ByteSink> sink = ByteSink::open(out, false);
  ASSERT_TRUE(sink.has_value());
  ASSERT_TRUE(sink->write("ours").has_value());
  ASSERT_TRUE(sink->finish().has_value());
  EXPECT_EQ(read_file(out).value(), "ours");
  EXPECT_EQ(read_file(other).value(), "theirs");
  EXPECT_FALSE(std::filesystem::is_symlink(out));
}

TEST_F(ExportTest, CountersOfDatacrumbs) {
  FakeStream stream;
  ExportInterval read;
  read.ts = 24'000'000'000;
  read.width = 1'000'000'000;
  read.host = "vm";
  read.pid = 7;
  read.tid = 8;
  read.layer = "syscall";
  read.name = "read";
  read.file = "/x";
  read.calls = 149;
  read.dur = 1'400'000;
  read.bytes = 4096;
  ExportInterval sleep = read;
  sleep.layer = "sched";
  sleep.name = "sleep";
  sleep.file = {};
  sleep.bytes = {};
  ExportInterval function = sleep;
  function.layer = "user";
  function.name = "malloc";
  function.category = "[libc.so.6]";
  ExportInterval own = function;
  own.category = "memory";
  stream.interval_rows = {read, sleep, function, own};
  EXPECT_EQ(
      exported("pfw", stream, "datacrumbs"),
      "[\n"
      R"({"pid":7,"tid":8,"name":"read","cat":"sys","ph":"C","ts":24000000,)"
      R"("args":{"hostname":"vm","fname":"/x","count":149,"freq":149,"time":0.0014,"size_sum":4096}})"
      "\n"
      R"({"pid":7,"tid":8,"name":"sleep","cat":"sched","ph":"C","ts":24000000,)"
      R"("args":{"hostname":"vm","fname":null,"count":149,"freq":149,"time":0.0014,"size_sum":null}})"
      "\n"
      R"({"pid":7,"tid":8,"name":"malloc [libc.so.6]","cat":"[libc.so.6]","ph":"C",)"
      R"("ts":24000000,"args":{"hostname":"vm","fname":null,"count":149,"freq":149,"time":0.0014,"size_sum":null}})"
      "\n"
      R"({"pid":7,"tid":8,"name":"malloc","cat":"memory","ph":"C","ts":24000000,)"
      R"("args":{"hostname":"vm","fname":null,"count":149,"freq":149,"time":0.0014,"size_sum":null}})"
      "\n");
}

TEST(Exporters, UnknownDialectIsAWrongCommandLine) {
  const Result<const ExporterDef*> def = find_exporter("pfw", "latin");
  ASSERT_FALSE(def.has_value());
  EXPECT_EQ(def.error().code, Code::kUsage);
  EXPECT_FALSE(find_exporter("chrome", "datacrumbs").has_value());
}

TEST(Exporters, UnknownFormatIsAWrongCommandLine) {
  const Result<const ExporterDef*> def = find_exporter("svg");
  ASSERT_FALSE(def.has_value());
  EXPECT_EQ(def.error().code, Code::kUsage);
  EXPECT_NE(def.error().hint.find("perfetto"), std::string::npos);
}

TEST(JsonNumbers, Microseconds) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {0, "0"},
      {1, "0.001"},
      {1000, "1"},
      {1010, "1.010"},
      {-1, "-0.001"},
      {-1234567, "-1234.567"},
      {std::numeric_limits<std::int64_t>::min(), "-9223372036854775.808"}};
  for (const auto& [ns, text] : cases) {
    std::string out;
    append_us(out, ns);
    EXPECT_EQ(out, text);
  }
  std::string out;
  append_real(out, std::numeric_limits<double>::infinity());
  EXPECT_EQ(out, "null");
}

}  // namespace
}  // namespace fathom::render
