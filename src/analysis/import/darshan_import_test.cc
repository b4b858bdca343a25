// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/import/darshan_line.h"
#include "analysis/import/import.h"
#include "analysis/testing/import_box.h"
#include "base/testing/emulation.h"

namespace fathom::analysis {
namespace {

class DarshanImportTest : public testing::ImportBox {
 protected:
  Result<ImportOutcome> import(const std::vector<std::string>& contents,
                               const std::string& format = "") {
    std::vector<std::string> files;
    for (const std::string& content : contents)
      files.push_back(file(std::to_string(files.size()) + ".txt", content));
    return import_into_trace(files, true, format);
  }
};

constexpr char kHead[] =
    "# darshan log version: 3.41\n"
    "# exe: /bin/solve -n 4\n"
    "# jobid: 77\n"
    "# start_time: 1700000000\n"
    "# nprocs: 2\n"
    "# run time: 5.5000\n\n";

std::string line(const std::string& module, int rank, const std::string& counter,
                 const std::string& value, const std::string& file = "/x/y") {
  return module + "\t" + std::to_string(rank) + "\t630\t" + counter + "\t" + value + "\t" + file +
         "\t/\text4\n";
}

std::string posix_log() {
  return kHead + line("POSIX", 1, "POSIX_OPENS", "2") + line("POSIX", 1, "POSIX_SEEKS", "3") +
         line("POSIX", 1, "POSIX_DUPS", "-1") + line("POSIX", 1, "POSIX_READS", "10") +
         line("POSIX", 1, "POSIX_WRITES", "0") + line("POSIX", 1, "POSIX_FSYNCS", "4") +
         line("POSIX", 1, "POSIX_BYTES_READ", "40960") +
         line("POSIX", 1, "POSIX_MAX_BYTE_READ", "40959") +
         line("POSIX", 1, "POSIX_CONSEC_READS", "6") + line("POSIX", 1, "POSIX_SEQ_READS", "8") +
         line("POSIX", 1, "POSIX_SIZE_READ_1K_10K", "10") +
         line("POSIX", 1, "POSIX_ACCESS1_ACCESS", "4096") +
         line("POSIX", 1, "POSIX_F_READ_START_TIMESTAMP", "1.500000") +
         line("POSIX", 1, "POSIX_F_READ_END_TIMESTAMP", "2.250000") +
         line("POSIX", 1, "POSIX_F_READ_TIME", "0.125000") +
         line("POSIX", 1, "POSIX_F_META_TIME", "0.000250") +
         line("POSIX", 1, "POSIX_F_MAX_READ_TIME", "0.050000") +
         line("MPI-IO", 1, "MPIIO_COLL_READS", "5") + line("MPI-IO", 1, "MPIIO_INDEP_READS", "1") +
         line("MPI-IO", 1, "MPIIO_F_READ_TIME", "0.200000");
}

TEST_F(DarshanImportTest, CountersBecomeSums) {
  const Result<ImportOutcome> outcome = import({posix_log()});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->damaged_lines, 0);
  EXPECT_EQ(outcome->rows, 4);  // read and metadata, MPI-IO's read, POSIX_FSYNCS
  expect_count(
      "summary WHERE layer = 'posix' AND name = 'read' AND category = 'read' AND file = '/x/y' AND "
      "pid = 1 AND calls = 10 AND dur = 125000000 AND self = dur AND dur_max = 50000000 AND "
      "dur_min IS NULL AND bytes = 40960 AND \"first\" = 1500000000 AND \"last\" = 2250000000 AND "
      "sizes[11] = 10 AND positioned = 10 AND consecutive = 6 AND forward = 2 AND extent = 40960",
      1);
  expect_count("summary WHERE name = 'metadata' AND calls = 5 AND dur = 250000", 1);
  expect_count(
      "summary WHERE layer = 'app' AND name = 'MPI-IO read' AND calls = 6 AND dur = 200000000 AND "
      "self = 75000000",
      1);
  expect_count("counters WHERE name = 'POSIX_FSYNCS' AND value = 4 AND pid = 1", 1);
  expect_count("counters", 1);
  expect_count("events", 0);
  expect_count("processes WHERE name = 'solve' AND rank = pid", 2);
  expect_count("run WHERE key = 'job' AND value = '77'", 1);
}

TEST_F(DarshanImportTest, SharedFilesBelongToNoProcess) {
  ASSERT_TRUE(import({kHead + line("POSIX", -1, "POSIX_WRITES", "7")}).has_value());
  expect_count("summary WHERE pid IS NULL AND calls = 7", 1);
}

TEST_F(DarshanImportTest, TotalsStandInForRecordsThatAreMissing) {
  const std::string totals = "total_POSIX_READS: 9\ntotal_STDIO_WRITES: 4\n";
  ASSERT_TRUE(import({kHead + totals}).has_value());
  expect_count("summary WHERE file IS NULL AND layer = 'posix' AND calls = 9", 1);
  expect_count("summary WHERE layer = 'stdio' AND name = 'write' AND calls = 4", 1);
  ASSERT_TRUE(import({posix_log() + totals}).has_value());
  expect_count("summary WHERE calls = 9", 0);
}

TEST_F(DarshanImportTest, HeatMapsAreCounters) {
  const std::string file = "heatmap:POSIX";
  ASSERT_TRUE(import({kHead + line("HEATMAP", 0, "HEATMAP_F_BIN_WIDTH_SECONDS", "0.5", file) +
                      line("HEATMAP", 0, "HEATMAP_READ_BIN_0", "100", file) +
                      line("HEATMAP", 0, "HEATMAP_WRITE_BIN_3", "200", file)})
                  .has_value());
  expect_count(
      "counters WHERE layer = 'posix' AND name = 'HEATMAP_READ' AND ts = 0 AND value = 100", 1);
  expect_count("counters WHERE name = 'HEATMAP_WRITE' AND ts = 1500000000 AND unit = 'bytes'", 1);
}

TEST_F(DarshanImportTest, LogsOfSeveralJobsStandSideBySide) {
  std::string later = posix_log();
  later.replace(later.find("1700000000"), 10, "1700000002");
  ASSERT_TRUE(import({later, posix_log()}).has_value());
  expect_count("summary WHERE name = 'read' AND pid = 1 AND \"first\" = 3500000000", 1);
  expect_count("summary WHERE name = 'read' AND pid = 3 AND \"first\" = 1500000000", 1);
  expect_count("processes", 4);
}

TEST_F(DarshanImportTest, WhatIsDamagedIsLeftOutAndCounted) {
  const Result<ImportOutcome> outcome =
      import({posix_log() + line("POSIX", 1, "POSIX_READS", "many") + "POSIX\t1\tcut\n" +
              line("LUSTRE", 1, "LUSTRE_OSTS", "3")});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->damaged_lines, 2);
  expect_count("losses WHERE reason = 'damaged line' AND count = 2", 1);
  expect_count("losses", 1);
  expect_count("summary WHERE name = 'read' AND calls = 10", 1);
}

constexpr char kTraced[] =
    "# DXT, file_id: 1, file_name: /data/in\n"
    "# DXT, rank: 1, hostname: n7\n"
    "# DXT, write_count: 0, read_count: 2\n"
    "# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)\n"
    " X_MPIIO       1   read        0            4096            8192      0.0300      0.0400\n"
    " X_POSIX       1   read        0            4096            8192      0.0310      0.0390  "
    "[1]\n"
    " X_POSIX       1   read        1              12    what is this\n";

TEST_F(DarshanImportTest, TracedAccessesAreEvents) {
  const Result<ImportOutcome> outcome = import({std::string(kHead) + kTraced});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->rows, 2);
  EXPECT_EQ(outcome->damaged_lines, 1);
  expect_count(
      "events WHERE layer = 'posix' AND name = 'read' AND ts = 31000000 AND dur = 8000000 AND pid "
      "= "
      "1 AND rank = 1 AND host = 'n7' AND file = '/data/in' AND \"offset\" = 4096 AND bytes = 8192 "
      "AND depth = 1",
      1);
  expect_count("events WHERE layer = 'app' AND name = 'MPI-IO read' AND depth = 0", 1);
}

TEST_F(DarshanImportTest, ALogNeedsDarshansParser) {
  FATHOM_SKIP_UNDER_EMULATION("posix_spawn cannot tell that a program is not there");
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  std::string log("3.41\0\0\0\0\x37\x35\x64\0\0\0\0\0 and more", 25);
  ::setenv("PATH", root_.c_str(), 1);
  Result<ImportOutcome> outcome = import({log});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_NE(outcome.error().message.find("darshan-parser is not installed"), std::string::npos);
  EXPECT_NE(import({log}, "darshan-dxt").error().message.find("darshan-dxt-parser is not"),
            std::string::npos);
  // One that prints what the other test imports.
  const std::string parser = join_path(root_, "darshan-parser");
  ASSERT_TRUE(write_file_atomic(join_path(root_, "text"), posix_log()).has_value());
  ASSERT_TRUE(
      write_file_atomic(parser, "#!/bin/sh\nexec /bin/cat " + root_ + "/text\n", 0755).has_value());
  outcome = import({log});
  EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
  ASSERT_TRUE(write_file_atomic(parser, "#!/bin/sh\nexit 1\n", 0755).has_value());
  EXPECT_FALSE(import({log}).has_value());
  ::setenv("PATH", before.c_str(), 1);
  expect_count("summary WHERE name = 'read' AND calls = 10", 1);
}

TEST(DarshanLines, NoneOfThese) {
  for (const char* text : {"", "POSIX\t0", "POSIX\tx\t1\tPOSIX_READS\t1\t/x\t/\text4",
                           "POSIX\t-2\t1\tPOSIX_READS\t1\t/x\t/\text4", "total_: 3",
                           "total_X: ", "\t0\t1\tPOSIX_READS\t1\t/x\t/\text4"})
    EXPECT_FALSE(parse_darshan_counter(text).has_value()) << text;
  for (const char* text : {"", "X_POSIX 0 write 0 0 1 2.0", "X_POSIX 0 append 0 0 1 1.0 2.0",
                           "X_POSIX -1 write 0 0 1 1.0 2.0", "X_POSIX 0 write 0 0 1 3.0 2.0",
                           "X_HDF5 0 write 0 0 1 1 2"})
    EXPECT_FALSE(parse_darshan_access(text).has_value()) << text;
}

}  // namespace
}  // namespace fathom::analysis
