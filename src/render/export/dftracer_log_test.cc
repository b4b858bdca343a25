// SPDX-License-Identifier: MIT
#include "render/export/dftracer_log.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "base/files.h"

namespace fathom::render {
namespace {

constexpr std::int64_t kStartNs = 1700000000000000000;

class DftracerLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fathom-dftracer-XXXXXX";
    directory_ = mkdtemp(name);
    process_ = {.host = "vm",
                .pid = 31139,
                .ppid = 1,
                .forked = false,
                .start_us = 1700000000000000,
                .command = "/usr/bin/python3 /home/me/dft_program.py 2.x",
                .cwd = "/home/me"};
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(directory_)); }

  [[nodiscard]] DftracerSettings settings(const std::string& more) const {
    return parse_dftracer_settings("log=" + directory_ + "/log\n" + more);
  }

  // The lines of the file after these events.
  std::string written(const DftracerSettings& settings, const std::vector<ExportEvent>& events) {
    DftracerLog log(settings, process_, kStartNs, DftracerBegin::kAnew);
    for (const ExportEvent& event : events) EXPECT_TRUE(log.add(event));
    EXPECT_TRUE(log.complete(true));
    return read(log.path());
  }

  static std::string read(const std::string& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    std::string text;
    char piece[4096];
    for (int got = 0; file != nullptr && (got = gzread(file, piece, sizeof piece)) > 0;)
      text.append(piece, static_cast<std::size_t>(got));
    if (file != nullptr) gzclose(file);
    return text;
  }

  static ExportEvent call(std::string_view file) {
    ExportEvent event;
    event.ts = 5500;
    event.dur = 2000;
    event.tid = 7;
    event.depth = 1;
    event.layer = "posix";
    event.name = "pread";
    event.entry = "pread64";
    event.category = "read";
    event.file = file;
    event.fd = 4;
    event.offset = 16;
    event.size = 8;
    event.bytes = 8;
    event.ret = 8;
    return event;
  }

  std::string directory_;
  DftracerProcess process_;
};

TEST_F(DftracerLogTest, NamesFilesAsEachGenerationDoes) {
  EXPECT_EQ(dftracer_log_path(settings("generation=2\n"), process_),
            directory_ + "/log-f266e8d505a5c1ea-app.pfw.gz");
  EXPECT_EQ(dftracer_log_path(settings("generation=2\nmode=preload\ncompression=0\n"), process_),
            directory_ + "/log-f266e8d505a5c1ea-preload.pfw");
  EXPECT_EQ(dftracer_log_path(settings("generation=1\n"), process_),
            directory_ + "/log-dft_program.py-31139-app.pfw");
  EXPECT_EQ(dftracer_log_path(settings("generation=1\nnamed=1\n"), process_), directory_ + "/log");
  process_.forked = true;
  EXPECT_EQ(dftracer_log_path(settings("generation=2\n"), process_),
            directory_ + "/log-f266e8d505a5c1ea-fork.pfw.gz");
  EXPECT_EQ(dftracer_log_path(settings("generation=1\nnamed=1\n"), process_),
            directory_ + "/log-31139");
}

TEST_F(DftracerLogTest, TakesTheEndingOfALogThatTheProgramNamed) {
  const auto named = [&](const char* log, const char* generation) {
    DftracerSettings all = settings(std::string("named=1\ncompression=0\n") + generation);
    all.log = log;
    return dftracer_log_path(all, process_);
  };
  EXPECT_EQ(named("/d.x/t-0-of-1.pfw", "generation=2\n"), "/d.x/t-0-of-1-f266e8d505a5c1ea-app.pfw");
  EXPECT_EQ(named("/d.x/t.pfw.gz", "generation=2\n"), "/d.x/t-f266e8d505a5c1ea-app.pfw");
  EXPECT_EQ(named("/d.x/a.b.c", "generation=2\n"), "/d.x/a.b-f266e8d505a5c1ea-app.pfw");
  EXPECT_EQ(named("/d.x/log", "generation=2\n"), "/d.x/log-f266e8d505a5c1ea-app.pfw");
  EXPECT_EQ(named("/d.x/.log", "generation=2\n"), "/d.x/.log-f266e8d505a5c1ea-app.pfw");
  process_.forked = true;
  EXPECT_EQ(named("/d.x/t-0-of-1.pfw", "generation=2\n"),
            "/d.x/t-0-of-1-f266e8d505a5c1ea-fork.pfw");
  EXPECT_EQ(named("/d.x/t-0-of-1.pfw", "generation=1\n"), "/d.x/t-0-of-1-31139.pfw");
}

TEST_F(DftracerLogTest, NamesNothingElseWhateverTheProgramIsCalled) {
  process_.command = std::string("/bin/x\0y\n..", 11) + " -m ../../z";
  EXPECT_EQ(dftracer_log_path(settings("generation=1\n"), process_),
            directory_ + "/log-x_y_..-31139-app.pfw");
  process_.command = "python3 " + std::string(5000, 'a');
  EXPECT_LT(dftracer_log_path(settings("generation=1\n"), process_).size(),
            directory_.size() + 150);
}

TEST_F(DftracerLogTest, ReplacesNothingWhereNothingMayBeReplaced) {
  const std::string before = written(settings(""), {call("/data/a")});
  DftracerLog log(settings(""), process_, kStartNs, DftracerBegin::kOnlyNew);
  ASSERT_TRUE(log.add(call("/data/b")));
  EXPECT_FALSE(log.complete(true));
  EXPECT_EQ(read(log.path()), before);
}

TEST_F(DftracerLogTest, FollowsNoLink) {
  const std::string canary = directory_ + "/canary";
  ASSERT_TRUE(write_file_atomic(canary, "content", 0600));
  for (const auto begin : {DftracerBegin::kAnew, DftracerBegin::kGoesOn}) {
    DftracerLog log(settings(""), process_, kStartNs, begin);
    (void)::unlink(log.path().c_str());
    ASSERT_EQ(symlink(canary.c_str(), log.path().c_str()), 0);
    ASSERT_TRUE(log.add(call("/data/a")));
    EXPECT_EQ(log.complete(true).has_value(), begin == DftracerBegin::kAnew);
    EXPECT_EQ(*read_file(canary), "content");
  }
}

TEST_F(DftracerLogTest, WritesTheLinesOfGeneration1) {
  const std::string text =
      written(settings("generation=1\nmetadata=1\ndata_dirs=/data\n"), {call("/data/a")});
  EXPECT_TRUE(text.starts_with("[\n{\"id\":\"1\",\"name\":\"start\",\"cat\":\"dftracer\","));
  EXPECT_NE(
      text.find(R"({"id":"2","name":"pread64","cat":"POSIX","pid":"31139","tid":"7",)"
                R"("ts":"1700000000000005","dur":"2","ph":"X","args":{"hostname":"vm","level":2,)"
                R"("ret":"8","offset":"16","count":"8","fd":4,"fname":"/data/a"}})"
                "\n"),
      std::string::npos)
      << text;
}

TEST_F(DftracerLogTest, WritesTheLinesOfGeneration2) {
  const std::string text = written(settings("metadata=1\ndata_dirs=/data\n"), {call("/data/a")});
  EXPECT_TRUE(text.starts_with(R"({"name":"HH","cat":"dftracer","type":1,"pid":31139,)")) << text;
  EXPECT_NE(text.find(R"({"id":2,"name":"pread64","cat":"POSIX","type":3,"pid":31139,"tid":7,)"
                      R"("ts":1700000000000005,"dur":2,"ph":1,"args":{"hhash":"6882804a826580cd",)"
                      R"("ret":8,"offset":16,"count":8,"fhash":)"),
            std::string::npos)
      << text;
}

TEST_F(DftracerLogTest, TheFirstLineTellsWhen) {
  const std::string date =
      R"("date":"(Tue|Wed) Nov 1[45] \d\d:\d\d:20 2023",)";  // of any time zone
  const std::string old = written(settings("generation=1\nmetadata=1\n"), {call("/data/a")});
  EXPECT_TRUE(std::regex_search(old, std::regex(date + R"("cmd":"/usr/bin/python3 )"))) << old;
  const std::string text = written(settings("metadata=1\n"), {call("/data/a")});
  EXPECT_TRUE(std::regex_search(text, std::regex(R"("version":20003,)" + date + R"("cwd":")")))
      << text;
}

TEST_F(DftracerLogTest, LeavesOutWhatWasNotAskedFor) {
  const std::vector<ExportEvent> events = {call("/data/a"), call("/other/a"), call("")};
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  const std::string some = written(settings("generation=1\ndata_dirs=/data:/nowhere\n"), events);
  EXPECT_EQ(lines(some), 4) << some;  // the bracket, start, one call, end
  EXPECT_EQ(some.find("\"args\":{\""), std::string::npos) << some;
  const std::string all = written(settings("generation=1\ndata_dirs=all\n"), events);
  EXPECT_EQ(lines(all), 5) << all;
  EXPECT_EQ(written(settings("data_dirs=/nowhere\n"), events), "");
}

TEST_F(DftracerLogTest, TakesTimesThatTheProgramTook) {
  ExportEvent event;
  event.layer = "app";
  event.name = "a \"quoted\"\nname";
  event.category = "C";
  const std::vector<ExportArg> args = {
      {"dftracer.ts", "1700000000000123"}, {"dftracer.dur", "77"}, {"f", "0.25"}, {"t", "1e"}};
  event.args = args;
  const std::string text = written(settings("metadata=1\n"), {event});
  EXPECT_NE(text.find(R"("name":"a \"quoted\"\nname","cat":"C","type":6,)"), std::string::npos);
  EXPECT_NE(text.find(R"("ts":1700000000000123,"dur":77,)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("f":0.25,"t":"1e"})"), std::string::npos) << text;
}

TEST_F(DftracerLogTest, KeepsEveryFactThatWasTold) {
  ExportEvent event;
  event.layer = "app";
  event.name = "metadata";
  event.category = "dftracer";
  event.tid = 7;
  const std::vector<ExportArg> first = {{"k", "v"}};
  const std::vector<ExportArg> second = {{"k", "w"}};
  std::vector<ExportEvent> events(3, event);
  events[0].args = events[1].args = first;
  events[2].args = second;
  const std::string old = written(settings("generation=1\n"), events);
  EXPECT_NE(old.find(R"({"id":"2","name":"CM","cat":"dftracer","pid":"31139","tid":"7","ph":"M",)"
                     R"("args":{"hostname":"vm","name":"k","value":"v"}})"
                     "\n"
                     R"({"id":"3","name":"CM",)"),
            std::string::npos)
      << old;
  EXPECT_NE(old.find(R"("name":"k","value":"w")"), std::string::npos) << old;
  DftracerLog log(settings(""), process_, kStartNs, DftracerBegin::kAnew);
  for (const ExportEvent& one : events) ASSERT_TRUE(log.add(one));
  log.add_fact("k", "w");  // told as a fact of the process, too
  ASSERT_TRUE(log.complete(true));
  const std::string text = read(log.path());
  const std::string line = R"("tid":7,"ph":4,"args":{"hhash":"6882804a826580cd","name":"k")";
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(line, at)) != std::string::npos; at++) count++;
  EXPECT_EQ(count, 3) << text;
}

TEST_F(DftracerLogTest, EndsWhenTheProcessSaidSo) {
  for (const auto& [metric, end] :
       {std::pair("US", "1700000003000000"), std::pair("MS", "1700000003000")}) {
    DftracerLog log(settings(std::string("time_metric=") + metric + "\n"), process_, kStartNs,
                    DftracerBegin::kAnew);
    ASSERT_TRUE(log.add(call("/data/a")));
    ASSERT_TRUE(log.complete(true, kStartNs + 3'000'000'000));
    const std::string text = read(log.path());
    EXPECT_NE(text.find(std::string(R"("name":"time_metric","value":")") + metric),
              std::string::npos);
    EXPECT_NE(text.find(std::string(R"("ts":)") + end + R"(,"dur":0,"ph":1)"), std::string::npos)
        << text;
  }
}

TEST_F(DftracerLogTest, WritesNoFileOfNothingInGeneration2) {
  EXPECT_EQ(written(settings("asked=1\n"), {}), "");
  EXPECT_NE(written(settings("generation=1\nasked=1\n"), {}), "");
  DftracerLog log(settings("asked=1\n"), process_, kStartNs, DftracerBegin::kAnew);
  log.add_fact("k", "w");
  ASSERT_TRUE(log.complete(true));
  EXPECT_NE(read(log.path()).find(R"("name":"k","value":"w")"), std::string::npos);
}

TEST_F(DftracerLogTest, AddsUpEventsOfAnInterval) {
  std::vector<ExportEvent> events(3, call("/data/a"));
  events[1].dur = 5000;
  events[2].ts = 2'000'000'000;
  const std::string text =
      written(settings("metadata=1\naggregation=1\ninterval_ms=500\n"), events);
  EXPECT_NE(text.find(R"({"name":"pread64","cat":"POSIX","type":3,"ts":1700000000000000,"ph":3,)"
                      R"("pid":31139,"tid":7,"args":{"hhash":"6882804a826580cd","count_min":8,)"
                      R"("count_max":8,"count_sum":16,"dur_min":2,"dur_max":5,"dur_sum":7,)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("ts":1700000002000000,"ph":3,)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("dur":2,"offset":16,"ret":8,"dft_cnt":1}})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("num_events":4})"), std::string::npos) << text;
}

TEST_F(DftracerLogTest, AddsUpWhatRulesChoose) {
  std::vector<ExportEvent> events(4, call("/data/a"));
  events[3].dur = 5'000'000;
  const std::string text = written(
      settings("metadata=1\naggregation=1\ninclude=cat == 'POSIX'\nexclude=dur > 1000\n"), events);
  EXPECT_NE(text.find(R"("dft_cnt":3}})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("dur":5000,"ph":1,)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"({"name":"FH")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("num_events":5})"), std::string::npos) << text;
}

TEST_F(DftracerLogTest, GoesOnAfterItsEnd) {
  DftracerLog log(settings("compression=1\n"), process_, kStartNs, DftracerBegin::kAnew);
  ASSERT_TRUE(log.add(call("/data/a")));
  ASSERT_TRUE(log.complete(true));
  const std::string before = read(log.path());
  ASSERT_TRUE(log.complete(true));
  EXPECT_EQ(read(log.path()), before);
  ASSERT_TRUE(log.add(call("/data/b")));
  ASSERT_TRUE(log.complete(false));
  EXPECT_TRUE(read(log.path()).starts_with(before));
  EXPECT_GT(read(log.path()).size(), before.size());
}

}  // namespace
}  // namespace fathom::render
