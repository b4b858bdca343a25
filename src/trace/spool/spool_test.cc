// SPDX-License-Identifier: MIT
// A run's directory: what it takes for one, its locks, and the files that are its own.
#include "trace/spool/spool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "trace/spool/journal.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::kSchemaText;
using testing::SpoolBuilder;
using testing::TempDir;

class SpoolTest : public ::testing::Test {
 protected:
  [[nodiscard]] Spool spool() const { return Spool::open(builder_.directory()).value(); }
  [[nodiscard]] std::string at(const std::string& name) const {
    return join_path(builder_.directory(), name);
  }
  void put(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(write_file_atomic(at(name), content).has_value());
  }
  // A log that says which it is.
  void put_log(const std::string& name, const std::string& head) const {
    const Directory files = Directory::open(builder_.directory()).value();
    ChunkLog log = ChunkLog::open(files, name).value();
    ASSERT_TRUE(log.append({EntryKind::kDrained,
                            {},
                            0,
                            {reinterpret_cast<const std::uint8_t*>(head.data()), head.size()}})
                    .has_value());
  }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path()};
};

TEST_F(SpoolTest, OpensOnlyWhatIsOne) {
  EXPECT_TRUE(Spool::open(builder_.directory()).has_value());
  fathom_run_header header = builder_.header();
  header.version = FATHOM_WIRE_VERSION + 1;
  builder_.write_page(header);
  EXPECT_EQ(Spool::open(builder_.directory()).error().code, Code::kUnsupported);
  header.magic++;
  builder_.write_page(header);
  EXPECT_EQ(Spool::open(builder_.directory()).error().code, Code::kCorrupt);
  put(FATHOM_RUN_FILE, "short");
  EXPECT_EQ(Spool::open(builder_.directory()).error().code, Code::kCorrupt);
  ASSERT_EQ(::unlink(at(FATHOM_RUN_FILE).c_str()), 0);
  EXPECT_EQ(Spool::open(builder_.directory()).error().code, Code::kNotFound);
}

TEST_F(SpoolTest, SaysWhatItsPageSays) {
  fathom_run_header header = builder_.header();
  header.run_id[0] = 0xab;
  header.run_id[15] = 0x01;
  std::snprintf(header.trouble, sizeof header.trouble, "the disk is full");
  fathom_run_shared shared{};
  shared.runs = 7;
  builder_.write_page(header, shared);
  const Spool spool = this->spool();
  EXPECT_EQ(spool.run_id(), "ab000000000000000000000000000001");
  EXPECT_EQ(spool.trouble(), "the disk is full");
  EXPECT_EQ(spool.shared().runs, 7U);
  EXPECT_EQ(spool.boot_id(), this_host().boot_id);
  EXPECT_TRUE(spool.same_boot());
}

// Of another boot, and its recorder said a moment ago that it lives.
TEST_F(SpoolTest, ARecorderElsewhereIsKnownByItsHeartbeat) {
  fathom_run_header header = builder_.header();
  header.heartbeat_ns = static_cast<std::uint64_t>(now_realtime_ns());
  builder_.write_page(header);
  EXPECT_FALSE(spool().recorded_elsewhere()) << "here, its lock tells";
  header.boot_id[0] = header.boot_id[0] == 'x' ? 'y' : 'x';
  builder_.write_page(header);
  EXPECT_FALSE(spool().same_boot());
  EXPECT_TRUE(spool().recorded_elsewhere());
  header.heartbeat_ns = 1;
  builder_.write_page(header);
  EXPECT_FALSE(spool().recorded_elsewhere());
}

TEST_F(SpoolTest, LogsByTheirNumbers) {
  for (const char* name : {"drained-10.log", "drained-9.log", "drained-.log", "drained-1x.log",
                           "drained-3", "xdrained-4.log", "drained--1.log"})
    put(name, "");
  const Spool spool = this->spool();
  EXPECT_EQ(spool.logs(), (std::vector<std::uint64_t>{9, 10}));
  EXPECT_TRUE(spool.has_log(9));
  EXPECT_FALSE(spool.has_log(3));
  EXPECT_EQ(Spool::log_name(12), "drained-12.log");
}

// What a log begins with tells which it is: a copy of it counts nothing.
TEST_F(SpoolTest, ACopiedLogIsNone) {
  const Spool spool = this->spool();
  put_log("drained-0.log", spool.log_head(0));
  put_log("drained-1.log", spool.log_head(0));
  put_log("drained-2.log", Journal::head(2, 12345));  // of another run
  EXPECT_EQ(spool.logs(), std::vector<std::uint64_t>{0});
  EXPECT_FALSE(spool.has_log(1));
  EXPECT_EQ(spool.copied_logs(), (std::vector<std::string>{"drained-1.log", "drained-2.log"}));
}

TEST_F(SpoolTest, PoolsOfItsOwn) {
  builder_.add_pool("7", {});
  const Spool spool = this->spool();
  fathom_pool_header header{};
  EXPECT_EQ(spool.why_not_ours(header, "5.pool"), "") << "it has no number";
  header.number = 7;
  EXPECT_EQ(spool.why_not_ours(header, "7.pool"), "");
  EXPECT_EQ(spool.why_not_ours(header, "8.pool"), "a copy of 7.pool");
  header.number = 8;
  EXPECT_EQ(spool.why_not_ours(header, "9.pool"), "") << "it only has another name";
  header.number = FATHOM_POOL_BROKERED | 3;
  EXPECT_EQ(spool.why_not_ours(header, "1-a-3.pool"), "");
  EXPECT_EQ(spool.why_not_ours(header, "1-a-4.pool"), "a copy of another pool");
  header.run_id[3] = 1;
  EXPECT_EQ(spool.why_not_ours(header, "1-a-3.pool"), "of another recording");
  EXPECT_EQ(spool.pool_paths().value(), std::vector<std::string>{at("7.pool")});
}

TEST_F(SpoolTest, SchemasAreReadOnceAndMadeAgain) {
  Spool spool = this->spool();
  const std::uint64_t hash = fnv1a(kSchemaText);
  const Schema* schema = spool.schema(hash);
  ASSERT_NE(schema, nullptr);
  EXPECT_EQ(spool.layer_of(3), "posix");
  EXPECT_EQ(spool.layer_of(14), "");
  EXPECT_EQ(spool.schema(1), nullptr);
  EXPECT_EQ(spool.missing_schemas(), std::vector<std::string>{"schema-0000000000000001"});
  ASSERT_TRUE(remove_tree(builder_.directory()).has_value());
  EXPECT_EQ(spool.schema(hash), schema);
  ASSERT_TRUE(spool.remake().has_value());
  EXPECT_EQ(spool.layer_of(3), "posix") << "it lies there again";
}

// A text that does not have the hash of its name is no schema.
TEST_F(SpoolTest, ADamagedSchemaIsMissing) {
  char name[32];
  std::snprintf(name, sizeof name, "schema-%016llx",
                static_cast<unsigned long long>(fnv1a(kSchemaText)));
  put(name, std::string(kSchemaText) + "\n");
  Spool spool = this->spool();
  EXPECT_EQ(spool.schema(fnv1a(kSchemaText)), nullptr);
  EXPECT_EQ(spool.missing_schemas(), std::vector<std::string>{name});
  EXPECT_EQ(spool.layer_of(3), "");
}

TEST_F(SpoolTest, CallsHaveNames) {
  Spool spool = this->spool();
  CallInFlight call;
  call.kind = testing::kRead;
  call.schema = fnv1a(kSchemaText);
  EXPECT_EQ(call_name(spool, call), "read");
  call.schema = 1;
  EXPECT_EQ(call_name(spool, call), "kind 33");
}

TEST_F(SpoolTest, LocksExcludeEachOther) {
  using Mode = FileLock::Mode;
  const Directory files = Directory::open(builder_.directory()).value();
  EXPECT_EQ(FileLock::look(files, "lock").error().code, Code::kNotFound) << "who reads makes none";
  {
    const auto first = FileLock::attempt(files, "lock", Mode::kShared).value();
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(FileLock::attempt(files, "lock", Mode::kShared)->has_value());
    EXPECT_FALSE(FileLock::attempt(files, "lock", Mode::kExclusive)->has_value());
    EXPECT_TRUE(FileLock::look(files, "lock")->has_value());
  }
  const auto alone = FileLock::attempt(at("lock"), Mode::kExclusive).value();
  ASSERT_TRUE(alone.has_value()) << "the others went with their objects";
  EXPECT_FALSE(FileLock::attempt(files, "lock", Mode::kShared)->has_value());
  EXPECT_FALSE(FileLock::look(files, "lock")->has_value());
  EXPECT_TRUE(alone->is_at(at("lock")));
  ASSERT_EQ(::unlink(at("lock").c_str()), 0);
  EXPECT_FALSE(alone->is_at(at("lock")));
  put("lock", "");
  EXPECT_FALSE(alone->is_at(at("lock"))) << "another file of that name";
}

}  // namespace
}  // namespace fathom::trace
