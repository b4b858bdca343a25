// SPDX-License-Identifier: MIT
#include "analysis/import/pfw_rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "analysis/import/line_reader.h"

namespace fathom::analysis {
namespace {

using trace::kNoString;
using trace::kNull;

// Both passes over lines in memory.
class PfwRowsTest : public ::testing::Test {
 protected:
  void import(const std::vector<std::string>& lines) {
    pass(lines,
         [&](const PfwLine& line, PfwUnit unit) { damaged_ += facts_.add(line, unit) ? 0 : 1; });
    facts_.finish();
    rows_ = std::make_unique<PfwRows>(facts_, strings_);
    pass(lines, [&](const PfwLine& line, PfwUnit unit) { rows_->add(line, unit, out_); });
  }

  template <class Use>
  void pass(const std::vector<std::string>& lines, Use use) {
    PfwParser parser;
    PfwLine line;
    PfwUnit unit;
    for (const std::string& text : lines) {
      const std::string padded = text + std::string(LineReader::kPadding, ' ');
      ASSERT_EQ(parser.parse(std::string_view(padded).substr(0, text.size()), line),
                PfwParser::Outcome::kLine)
          << text;
      unit.learn(line);
      use(line, unit);
    }
  }

  std::string_view text(std::uint32_t code) const { return strings_.view(code); }
  trace::EventRow event(std::size_t at) const { return out_.events.row(at); }
  std::string args(std::size_t row) const {
    std::string all;
    const trace::Args& args = out_.events.args;
    for (std::size_t i = args.begin(row); i < args.end(row); ++i) {
      all += std::string(text(args.key(i))) + "=" + std::string(args.value(i)) + ";";
    }
    return all;
  }

  trace::Strings strings_;
  PfwFacts facts_;
  std::unique_ptr<PfwRows> rows_;
  PfwBatches out_;
  int damaged_ = 0;
};

TEST_F(PfwRowsTest, FirstDialect) {
  import(
      {R"({"id":"2","name":"open64","cat":"POSIX","pid":"7","tid":"14","ts":"1698080323781412","dur":"3430","ph":"X","args":{"hostname":"c1","p_idx":3,"level":3,"ret":18,"flags":66,"fname":"/d/f","mode":420}})",
       R"({"id":"3","name":"lseek64","cat":"POSIX","pid":"7","tid":"14","ts":"1698080323785000","dur":"1","ph":"X","args":{"hostname":"c1","ret":"0","whence":1,"offset":"5","fd":18,"fname":"/d/f"}})",
       R"({"id":"4","name":"write","cat":"POSIX","pid":"7","tid":"14","ts":"1698080323785010","dur":"24","ph":"X","args":{"hostname":"c1","ret":"4000","count":"4096","fd":18,"fname":"/d/f"}})"});
  ASSERT_EQ(out_.events.rows(), 3U);
  const trace::EventRow open = event(0);
  EXPECT_EQ(open.ts, 0);
  EXPECT_EQ(open.dur, 3430000);
  EXPECT_EQ(open.pid, 7);
  EXPECT_EQ(open.tid, 14);
  EXPECT_EQ(text(open.layer), "posix");
  EXPECT_EQ(text(open.name), "open");
  EXPECT_EQ(text(open.entry), "open64");
  EXPECT_EQ(text(open.category), "open");
  EXPECT_EQ(text(open.file), "/d/f");
  EXPECT_EQ(open.ret, 18);
  EXPECT_EQ(open.bytes, kNull);
  EXPECT_EQ(open.host, kNoString);
  EXPECT_EQ(args(0), "flags=66;mode=420;");
  EXPECT_EQ(event(1).offset, kNull);  // where it goes, not where it was
  EXPECT_EQ(args(1), "whence=1;offset=5;");
  EXPECT_EQ(event(2).size, 4096);
  EXPECT_EQ(event(2).bytes, 4000);
  EXPECT_EQ(event(2).fd, 18);
  EXPECT_EQ(facts_.host_name(facts_.main_host), "c1");
  EXPECT_EQ(facts_.span.start, 1698080323781412000);
}

TEST_F(PfwRowsTest, HashesMayBeExplainedLater) {
  import(
      {R"({"id":3,"name":"fread","cat":"STDIO","type":3,"pid":7,"tid":8,"ts":1000,"dur":5,"ph":1,"args":{"hhash":"aa","ret":3,"count":4,"size":8,"fhash":"ff"}})",
       R"({"id":4,"name":"read","cat":"POSIX","type":3,"pid":7,"tid":8,"ts":2000,"dur":5,"ph":1,"args":{"hhash":"bb","ret":-1,"count":4,"fhash":"nobody"}})",
       R"({"name":"FH","cat":"dftracer","type":1,"pid":7,"tid":8,"ph":4,"args":{"hhash":"aa","name":"/x/y","value":"ff"}})",
       R"({"name":"HH","cat":"dftracer","type":1,"pid":7,"tid":8,"ph":4,"args":{"hhash":"aa","name":"one","value":"aa"}})",
       R"({"name":"HH","cat":"dftracer","type":1,"pid":7,"tid":8,"ph":4,"args":{"hhash":"bb","name":"two","value":"bb"}})"});
  ASSERT_EQ(out_.events.rows(), 2U);
  EXPECT_EQ(text(event(0).file), "/x/y");
  EXPECT_EQ(event(0).size, 32);
  EXPECT_EQ(event(0).bytes, 24);
  EXPECT_EQ(event(0).host, kNoString);
  EXPECT_EQ(text(event(1).host), "two");
  EXPECT_EQ(event(1).file, kNoString);
  EXPECT_EQ(event(1).bytes, kNull);
  EXPECT_EQ(args(1), "fhash=nobody;");
  EXPECT_EQ(rows_->unknown_files(), 1);
  EXPECT_EQ(rows_->processes().size(), 2U);
}

TEST_F(PfwRowsTest, AppRegionsKeepTheirArguments) {
  import(
      {R"({"id":1,"name":"read","cat":"POSIX","pid":7,"tid":7,"ts":12,"dur":5,"ph":"X","args":{"ret":1}})",
       R"({"id":2,"name":"step","cat":"COMPUTE","pid":7,"tid":7,"ts":10,"dur":10,"ph":"X","args":{"epoch":0,"size":3,"ret":"x"}})"});
  EXPECT_EQ(text(event(1).layer), "app");
  EXPECT_EQ(text(event(1).category), "COMPUTE");
  EXPECT_EQ(args(1), "epoch=0;size=3;ret=x;");
  EXPECT_EQ(event(1).size, kNull);
  EXPECT_EQ(event(0).depth, 1);
  EXPECT_EQ(event(1).depth, 0);
}

TEST_F(PfwRowsTest, AggregatedLinesAreIntervals) {
  import(
      {R"({"name":"openat","cat":"POSIX","type":3,"ts":3000000,"ph":3,"pid":4,"tid":5,"args":{"dft_cnt":2,"dur_min":379,"dur_max":444,"dur_sum":823}})",
       R"({"name":"openat","cat":"sys","ph":"C","ts":5000000,"pid":4,"tid":5,"args":{"hostname":"e","fname":"/x","freq":3,"time":4.967e-06,"size_sum":null}})",
       R"({"name":"write","cat":"sys","ph":"C","ts":7000000,"pid":4,"tid":5,"args":{"fname":"/x","freq":3,"time":0.5,"size_sum":4096}})",
       R"({"id":3,"name":"ext4_file_write_iter","cat":"ext4","ph":"C","ts":9000000,"args":{"duration":1234,"frequency":9}})",
       R"({"name":"STEP","cat":"CPP_APP","ts":11000000,"ph":"C","pid":7,"tid":7,"args":{"dur_max":2,"dur_min":1,"dur_sum":3,"count":2}})",
       R"({"name":"sync","cat":"sys","ph":"C","ts":13000000,"pid":4,"tid":5,"args":{"count":1,"time":0.001}})"});
  const std::vector<trace::IntervalRow>& rows = out_.intervals.rows;
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(text(rows[0].layer), "posix");
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].dur, 823000);
  EXPECT_EQ(rows[0].dur_min, 379000);
  EXPECT_EQ(rows[0].dur_max, 444000);
  EXPECT_EQ(rows[0].width, 2000000000);
  EXPECT_EQ(text(rows[1].layer), "syscall");
  EXPECT_EQ(text(rows[1].file), "/x");
  EXPECT_EQ(rows[1].dur, 4967);
  EXPECT_EQ(rows[1].bytes, kNull);
  EXPECT_EQ(rows[2].bytes, 4096);
  EXPECT_EQ(text(rows[3].layer), "fs");
  EXPECT_EQ(rows[3].calls, 9);
  EXPECT_EQ(rows[3].dur, 1234);
  EXPECT_EQ(rows[3].pid, trace::kNull32);
  EXPECT_EQ(text(rows[4].layer), "app");
  EXPECT_EQ(rows[4].calls, 2);
  EXPECT_EQ(rows[5].calls, 1);
  EXPECT_EQ(rows[5].dur, 1000000);
}

TEST_F(PfwRowsTest, PlainCounters) {
  import(
      {R"({"name":"cpu","cat":"sys","type":7,"ts":10,"ph":2,"pid":3,"tid":0,"args":{"hhash":"8","user_pct":12.5,"idle_pct":"83"}})",
       R"({"name":"rss","cat":"resource","ts":12,"ph":"C","pid":3,"args":{"value":4096,"unit":"bytes"}})"});
  const std::vector<trace::CounterRow>& rows = out_.counters.rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(text(rows[0].name), "cpu.user_pct");
  EXPECT_EQ(text(rows[0].unit), "%");
  EXPECT_EQ(text(rows[0].layer), "resource");
  EXPECT_EQ(rows[0].value, 12.5);
  EXPECT_EQ(rows[1].value, 83);
  EXPECT_EQ(text(rows[2].name), "rss");
  EXPECT_EQ(text(rows[2].unit), "bytes");
  EXPECT_EQ(rows[2].ts, 2000);
}

TEST_F(PfwRowsTest, ProcessesAndThreads) {
  import(
      {R"({"name":"SH","cat":"dftracer","ph":4,"pid":7,"tid":7,"args":{"name":"/usr/bin/app;-x;1","value":"c"}})",
       R"({"name":"SH","cat":"dftracer","ph":4,"pid":7,"tid":7,"args":{"name":"/usr/bin/app","value":"e"}})",
       R"({"name":"PR","cat":"dftracer","ph":4,"pid":7,"tid":7,"args":{"name":"rank","value":"3"}})",
       R"({"name":"CM","cat":"dftracer","ph":4,"pid":7,"tid":7,"args":{"name":"run","value":"blue"}})",
       R"({"name":"thread_name","cat":"dftracer","ph":4,"pid":7,"tid":7,"args":{"name":"7","value":"thread_name"}})",
       R"({"name":"thread_name","cat":"dftracer","ph":4,"pid":7,"tid":9,"args":{"name":"loader","value":"thread_name"}})",
       R"({"id":1,"name":"start","cat":"dftracer","pid":7,"tid":7,"ts":100,"dur":0,"ph":1,"args":{"ppid":6,"cmd_hash":"c","exec_hash":"e"}})",
       R"({"id":2,"name":"work","cat":"A","pid":7,"tid":9,"ts":150,"dur":50,"ph":1})"});
  const std::vector<trace::ProcessRow> processes = rows_->processes();
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(processes[0].name, "app");
  EXPECT_EQ(processes[0].command, "/usr/bin/app -x 1");
  EXPECT_EQ(processes[0].ppid, 6);
  EXPECT_EQ(processes[0].rank, 3);
  EXPECT_EQ(processes[0].start, 0);
  EXPECT_EQ(processes[0].end, 100000);
  ASSERT_EQ(processes[0].meta.size(), 1U);
  EXPECT_EQ(processes[0].meta[0].second, "blue");
  const std::vector<trace::ThreadRow> threads = rows_->threads();
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[0].name, "");
  EXPECT_EQ(threads[1].name, "loader");
  EXPECT_EQ(event(1).rank, 3);
}

TEST_F(PfwRowsTest, UnitsOfTime) {
  import(
      {R"({"name":"CM","cat":"dftracer","ph":4,"pid":7,"tid":7,"args":{"name":"time_metric","value":"NS"}})",
       R"({"name":"a","cat":"A","pid":7,"tid":7,"ts":100,"dur":50,"ph":1})"});
  EXPECT_EQ(event(0).dur, 50);
}

TEST_F(PfwRowsTest, NanosecondsSince1970) {
  import({R"({"name":"a","cat":"A","pid":7,"tid":7,"ts":1698080323781412001,"dur":50,"ph":"X"})"});
  EXPECT_EQ(facts_.span.start, 1698080323781412001);
  EXPECT_EQ(event(0).dur, 50);
}

TEST_F(PfwRowsTest, WhatIsNoSoundEvent) {
  import({R"({"name":"a","cat":"A","pid":7,"tid":7,"dur":50,"ph":"X"})",
          R"({"cat":"A","pid":7,"tid":7,"ts":1,"dur":50,"ph":"X"})",
          R"({"name":"a","pid":99999999999,"tid":7,"ts":1,"dur":50,"ph":"X"})",
          R"({"name":"a","pid":7,"tid":7,"ts":1,"dur":-50,"ph":"X"})",
          R"({"name":"a","pid":7,"tid":7,"ts":"soon","dur":5,"ph":"X"})",
          R"({"name":"a","pid":7,"tid":7,"ts":9223372036854775807,"dur":5,"ph":"X"})",
          R"({"name":"a","pid":7,"tid":7,"ts":1,"dur":5,"ph":"Q"})",
          R"({"name":"good","pid":7,"tid":7,"ts":1,"dur":5,"ph":"X"})"});
  EXPECT_EQ(damaged_, 7);
  EXPECT_EQ(out_.events.rows(), 1U);
  EXPECT_EQ(facts_.rows, 1);
}

TEST(Scaled, KeepsEveryDigit) {
  EXPECT_EQ(scaled("1698080323781412.345", 1000), 1698080323781412345);
  EXPECT_EQ(scaled("12", 1000), 12000);
  EXPECT_EQ(scaled("0.5", 1000000000), 500000000);
  EXPECT_EQ(scaled("1e3", 1000), 1000000);
  EXPECT_EQ(scaled("-1", 1000), std::nullopt);
  EXPECT_EQ(scaled("1.x", 1000), std::nullopt);
  EXPECT_EQ(scaled("", 1000), std::nullopt);
  EXPECT_EQ(scaled("9223372036854775807", 1000), std::nullopt);
}

}  // namespace
}  // namespace fathom::analysis
