// SPDX-License-Identifier: MIT
// Rows that a test wrote down, as exporters read them, and the files that they make of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "render/export/byte_sink.h"
#include "render/export/exporter.h"

namespace fathom::render::testing {

class FakeStream : public EventStream {
 public:
  [[nodiscard]] std::int64_t start_realtime_ns() const override { return 1700000000000000000; }
  Status processes(const std::function<Status(const ExportProcess&)>& use) override {
    return each(process_rows, use);
  }
  Status threads(const std::function<Status(const ExportThread&)>& use) override {
    return each(thread_rows, use);
  }
  Status events(EventOrder /*order*/,
                const std::function<Status(const ExportEvent&)>& use) override {
    return each(event_rows, use);
  }
  Status counters(const std::function<Status(const ExportCounter&)>& use) override {
    return each(counter_rows, use);
  }

  Status intervals(IntervalDetail /*detail*/,
                   const std::function<Status(const ExportInterval&)>& use) override {
    return each(interval_rows, use);
  }
  Status samples(const std::function<Status(const ExportSample&)>& use) override {
    return each(sample_rows, use);
  }
  Status table(const std::function<Status(const Table&)>& use) override { return use(rows); }
  Status write_parquet(const std::string& path) override { return write_file_atomic(path, "PAR1"); }

  Table rows;
  std::vector<ExportInterval> interval_rows;
  std::vector<ExportSample> sample_rows;
  std::vector<ExportProcess> process_rows;
  std::vector<ExportThread> thread_rows;
  std::vector<ExportEvent> event_rows;
  std::vector<ExportCounter> counter_rows;

 private:
  template <class Row>
  static Status each(const std::vector<Row>& rows, const std::function<Status(const Row&)>& use) {
    for (const Row& row : rows) FATHOM_TRY(use(row));
    return {};
  }
};

inline ExportEvent event(std::int64_t ts, std::int64_t dur, std::string_view layer,
                         std::string_view name) {
  ExportEvent made;
  made.ts = ts;
  made.dur = dur;
  made.host = "vm";
  made.pid = 7;
  made.tid = 8;
  made.layer = layer;
  made.name = name;
  return made;
}

class ExportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fathom-export-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { (void)remove_tree(root_).has_value(); }

  std::string exported(std::string_view format, FakeStream& stream, std::string_view dialect = {},
                       const StackChoice& choice = {}) {
    const std::string path = join_path(root_, "out");
    const Result<const ExporterDef*> def = find_exporter(format, dialect);
    EXPECT_TRUE(def.has_value());
    Result<ByteSink> sink = ByteSink::open(path, false);
    EXPECT_TRUE(sink.has_value());
    const Status written = (*def)->write_stacks != nullptr
                               ? (*def)->write_stacks(stream, choice, *sink)
                               : (*def)->write(stream, *sink);
    EXPECT_TRUE(written.has_value());
    EXPECT_FALSE(path_exists(path));  // not before it is whole
    EXPECT_TRUE(sink->finish().has_value());
    std::string text = read_file(path).value();
    EXPECT_TRUE(remove_tree(path).has_value());
    return text;
  }

  std::string root_;
};

}  // namespace fathom::render::testing
